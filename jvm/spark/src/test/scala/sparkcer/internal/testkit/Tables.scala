package sparkcer.internal.testkit

import org.apache.spark.sql.{DataFrame, Row, SparkSession}
import org.apache.spark.sql.types._

import sparkcer.engine.ceql.Window
import sparkcer.engine.evaluate.Program
import sparkcer.engine.testkit.{Event => TestEvent, Match, Value}

/** Test events as a DataFrame, and rows of matches as test matches: a column for each attribute, the position in `pos`,
  * and in `ts` the time in seconds.
  */
final class Tables(spark: SparkSession, types: Map[String, DataType] = Map.empty) {

  def apply(events: Seq[TestEvent]): DataFrame = {
    val names = (types.keySet ++ events.flatMap(_.attributes.keys)).toVector.sorted
    val schema = StructType(
      Seq(StructField("pos", LongType), StructField("type", StringType), StructField("ts", TimestampType)) ++
        names.map(n => StructField(n, types.getOrElse(n, typeOf(events.map(_(n))))))
    )
    val rows = events.zipWithIndex.map { case (e, i) =>
      val time = e("t") match {
        case Value.Num(n) => java.sql.Timestamp.from(java.time.Instant.ofEpochSecond(n.toLong))
        case _            => null
      }
      val values = names.map[Any] { n =>
        (e(n), schema(n).dataType) match {
          case (Value.Num(v), IntegerType) => v.toInt
          case (Value.Num(v), LongType)    => v.toLong
          case (Value.Num(v), DoubleType)  => v.toDouble
          case (Value.Null, _)             => null
          case (v, _)                      => v.show
        }
      }
      Row(Seq[Any](i.toLong, e.eventType, time) ++ values: _*)
    }
    spark.createDataFrame(java.util.Arrays.asList(rows: _*), schema)
  }

  private def typeOf(values: Seq[Value]): DataType = values.filter(_ != Value.Null) match {
    case all if all.forall { case Value.Num(n) => n.isWhole; case _ => false } => LongType
    case all if all.forall { case Value.Num(_) => true; case _ => false }      => DoubleType
    case _                                                                     => StringType
  }

  /** The column that orders the events for a program. */
  def timeOf(program: Program): String = program.query.within match {
    case Some(_: Window.Duration) => "ts"
    case _                        => "pos"
  }

  def matches(program: Program, found: DataFrame, events: Seq[TestEvent]): Vector[Match] = {
    val keys = program.query.partitionBy.map(_.value)
    found.collect().toVector.map { r =>
      def position(name: String): Int = r.get(r.fieldIndex(name)) match {
        case t: java.sql.Timestamp => events.indexWhere(_("t") == Value.Num(BigDecimal(t.getTime / 1000)))
        case n                     => n.asInstanceOf[Long].toInt
      }
      val bound = program.columns.map(_.variable).map { x =>
        val all = r.get(r.fieldIndex(x)) match {
          case null     => Nil
          case one: Row => Seq(one)
          case several  => several.asInstanceOf[scala.collection.Seq[Row]].toSeq
        }
        x -> all.map(_.getAs[Long]("pos").toInt).toSet
      }
      Match(
        keys.map(k => Value(r.get(r.fieldIndex(k)).toString)),
        position("start"),
        position("end"),
        bound.filter(_._2.nonEmpty).toMap
      )
    }
  }
}
