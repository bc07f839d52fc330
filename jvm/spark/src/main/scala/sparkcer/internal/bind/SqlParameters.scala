package sparkcer.internal.bind

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.catalyst.util.MapData
import org.apache.spark.sql.cerbridge.{CerException, Columns, Plans}
import org.apache.spark.sql.types.{MapType, NullType, StringType, StructType}

/** `params => …` of the table function: a struct with a field for each parameter, or a map, whose values have one type.
  */
private[sparkcer] object SqlParameters {

  /** The values by name, as literal columns. */
  def apply(events: DataFrame, argument: Expression): Map[String, Any] = {
    // Functions such as to_date have a value only after the optimizer has put others in their place.
    val e = inWords(Columns.evaluable(Plans.empty(events, new StructType), Seq(argument)).head)
    if (!e.foldable) throw new CerException("CER_SQL.PARAMS_NOT_CONSTANT", "params" -> argument.sql)
    val literals = e.dataType match {
      case s: StructType =>
        val row = value(e).asInstanceOf[InternalRow]
        s.fields.toSeq.zipWithIndex.map { case (f, i) => f.name -> Literal(row.get(i, f.dataType), f.dataType) }
      case MapType(key @ (_: StringType | NullType), valueType, _) => // map() is of no type
        val map = value(e).asInstanceOf[MapData]
        val names = map.keyArray().toSeq[Any](key).map(_.toString)
        names.zip(map.valueArray().toSeq[Any](valueType).map(Literal(_, valueType)))
      case MapType(key, _, _) => throw new CerException("CER_SQL.PARAMS_KEYS", "type" -> key.sql)
      case other              => throw new CerException("CER_SQL.PARAMS_TYPE", "type" -> other.sql)
    }
    literals.groupBy(_._1).find(_._2.length > 1).foreach { case (name, _) =>
      throw new CerException("CER_SQL.PARAMS_TWICE", "name" -> name)
    }
    literals.toMap.map { case (name, literal) => name -> Columns.column(literal) }
  }

  private def value(e: Expression): Any =
    Option(inWords(e.eval())).getOrElse(throw new CerException("CER_SQL.PARAMS_NULL"))

  private def inWords[A](body: => A): A =
    try body
    catch {
      case wrong: RuntimeException with SparkThrowable =>
        val words = wrong.getMessage.linesIterator.next().replaceFirst(" SQLSTATE: \\w+$", "")
        throw new CerException("CER_SQL.PARAMS_VALUE", "reason" -> words)
    }
}
