package sparkcer.internal.bind

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.lit
import org.apache.spark.sql.cerbridge.{CerException, Sessions}
import org.apache.spark.sql.types._

import sparkcer.TypeColumn
import sparkcer.engine.ceql.{CeqlException, Query, Window}

/** Merges several inputs, each under its name in FROM, into one DataFrame. It has the columns of all inputs by name,
  * with NULL where an input does not have the column; the type of each event, which is the FROM name in an input
  * without a type column; and, in a hidden column, the FROM name, for `S>R`. Events of the same time are in the order
  * of the inputs.
  *
  * @param typeName
  *   the type column, if there can be one
  * @param shownType
  *   the column that shows the type of each event, which inputs that lack it get. A column `type` with another meaning
  *   is left as it is
  */
final class Inputs private (
    inputs: Vector[(String, DataFrame)],
    typeName: Option[String],
    shownType: Option[String]
) {
  private val same = Sessions.sameName(inputs.head._2)

  checkKinds()
  checkWatermarks()

  private def merged: DataFrame = {
    checkTypes()
    inputs.map { case (name, df) => prepared(name, df) }.reduceLeft(_.unionByName(_, allowMissingColumns = true))
  }

  private def prepared(name: String, df: DataFrame): DataFrame = {
    val typed = shownType.filter(field(df, _).isEmpty).fold(df)(df.withColumn(_, lit(name)))
    typed.withColumn(Inputs.Hidden, lit(name).as(Inputs.Hidden, marked))
  }

  private lazy val marked = {
    val unusedType = typeName.isEmpty && inputs.exists(i => field(i._2, Types.Usual).isDefined)
    new MetadataBuilder().putBoolean(Inputs.Mark, value = true).putBoolean(Inputs.UnusedType, unusedType).build()
  }

  private def field(df: DataFrame, name: String): Option[StructField] = Inputs.field(df, name)

  private def checkKinds(): Unit = {
    val (streams, batches) = inputs.partition(_._2.isStreaming)
    for ((s, _) <- streams.headOption; (b, _) <- batches.headOption)
      throw new CerException("CER_UNSUPPORTED.MIXED_INPUTS", "stream" -> s, "batch" -> b)
  }

  /** Either all inputs have a watermark, on the same column, or none has. */
  private def checkWatermarks(): Unit = {
    val columns = inputs.map { case (name, df) =>
      name -> df.schema.find(_.metadata.contains(Binding.WatermarkDelay)).map(_.name)
    }
    for ((first, Some(column)) <- columns.find(_._2.isDefined)) columns.foreach {
      case (without, None) if inputs.head._2.isStreaming =>
        throw new CerException("CER_WATERMARK.MISSING", "first" -> first, "column" -> column, "second" -> without)
      case (other, Some(another)) if !same(column, another) =>
        throw new CerException(
          "CER_WATERMARK.OTHER_COLUMN",
          "first" -> first,
          "column" -> column,
          "second" -> other,
          "other" -> another
        )
      case _ => ()
    }
  }

  private def checkTypes(): Unit = {
    for ((name, df) <- inputs; f <- typeName.flatMap(field(df, _)) if f.dataType != StringType)
      throw new CerException(
        "CER_TYPE_MISMATCH.INPUT_TYPE_COLUMN",
        "column" -> f.name,
        "input" -> name,
        "type" -> f.dataType.sql
      )
    for {
      (second, i) <- inputs.zipWithIndex
      first <- inputs.take(i)
      f <- first._2.schema
      g <- field(second._2, f.name)
    } if (f.dataType.catalogString != g.dataType.catalogString)
      throw new CerException(
        "CER_TYPE_MISMATCH.INPUTS",
        "column" -> f.name,
        "firstType" -> f.dataType.sql,
        "first" -> first._1,
        "secondType" -> g.dataType.sql,
        "second" -> second._1
      )
  }
}

object Inputs {

  /** One DataFrame for all inputs. If there is only one input, it is returned unchanged. */
  def merge(query: Query, inputs: Map[String, DataFrame], options: Options): DataFrame = {
    val names = query.from.map(_.value)
    query.from.diff(query.from.distinct).headOption.foreach { twice =>
      throw new CeqlException(query.text, twice.offset, "CER_UNKNOWN_STREAM.TWICE", "name" -> twice.value)
    }
    inputs.keys.toVector.sorted.find(!names.contains(_)).foreach { unknown =>
      throw new CerException(
        "CER_UNKNOWN_STREAM.NOT_IN_FROM",
        "name" -> unknown,
        "names" -> names.mkString(", "),
        "suggestion" -> CeqlException.suggestion(unknown, names)
      )
    }
    query.from.find(n => !inputs.contains(n.value)).foreach { missing =>
      throw new CeqlException(query.text, missing.offset, "CER_UNKNOWN_STREAM.NOT_GIVEN", "name" -> missing.value)
    }
    if (names.length == 1) inputs(names.head)
    else {
      val own = names.map(n => n -> inputs(n))
      val typeName = Types.column(query, options.eventType)
      val all = new Inputs(own, typeName, shownType(own, typeName))
      checkShared(query, own, options)
      Types.mustBePossible(
        query,
        own.map { case (name, df) => Input(name, df.schema, typeName.exists(field(df, _).isDefined)) }
      )
      all.merged
    }
  }

  /** One DataFrame for inputs of which queries may name some each, in this order. */
  def merge(inputs: Vector[(String, DataFrame)], shownType: Option[String]): DataFrame =
    new Inputs(inputs, None, shownType).merged

  /** The column that shows the types of events, if these inputs are merged for a query. */
  private[sparkcer] def shownType(inputs: Vector[(String, DataFrame)], typeName: Option[String]): Option[String] =
    typeName.orElse(Some(Types.Usual).filter(name => inputs.forall(i => field(i._2, name).isEmpty)))

  private[sparkcer] def field(df: DataFrame, name: String): Option[StructField] = {
    val same = Sessions.sameName(df)
    df.schema.find(f => same(f.name, name))
  }

  /** Fails if an input lacks a column without which all its events would be dropped. */
  private def checkShared(query: Query, inputs: Vector[(String, DataFrame)], options: Options): Unit = {
    val watermark = inputs.head._2.schema.find(_.metadata.contains(Binding.WatermarkDelay)).map(_.name)
    val window = query.within.collect { case Window.Attribute(_, a) => ColumnPath(a).whole }
    val keys = query.partitionBy.map(ColumnPath(_)).map { path =>
      if (inputs.exists(i => field(i._2, path.whole).isDefined)) path.whole else path.parts.head
    }
    val shared =
      options.time.orElse(watermark).orElse(window).map(_ -> "time column").toVector ++
        options.order.map(_ -> "order column") ++ keys.map(_ -> "PARTITION BY column")
    for {
      (column, use) <- shared if inputs.exists(i => field(i._2, column).isDefined)
      (name, df) <- inputs.find(i => field(i._2, column).isEmpty)
    } throw new CerException(
      "CER_UNKNOWN_COLUMN.INPUT",
      "use" -> use,
      "column" -> column,
      "input" -> name,
      "columns" -> df.columns.mkString(", "),
      "suggestion" -> CeqlException.suggestion(column, df.columns)
    )
    options.eventType match {
      case TypeColumn.Named(name) if inputs.forall(i => field(i._2, name).isEmpty) =>
        val names = inputs.map(_._1).mkString(" or ")
        throw new CerException("CER_UNKNOWN_COLUMN.INPUT_TYPE", "name" -> name, "inputs" -> names)
      case _ => ()
    }
  }

  /** The column with the FROM name of each event, if there are several inputs. */
  def streamOf(schema: StructType): Option[StructField] = schema.find(isStream)

  def isStream(f: StructField): Boolean = f.metadata.contains(Mark)

  /** Has an input a column `type` that is not the type column? */
  def hasUnusedType(stream: StructField): Boolean = stream.metadata.getBoolean(UnusedType)

  private val Hidden = "__cer_stream"
  private val Mark = "spark.cer.stream"
  private val UnusedType = "spark.cer.unused_type"
}
