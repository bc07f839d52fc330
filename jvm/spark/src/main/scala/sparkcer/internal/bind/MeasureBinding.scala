package sparkcer.internal.bind

import scala.util.matching.Regex

import org.apache.spark.sql.{AnalysisException, DataFrame}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, AggregateFunction}
import org.apache.spark.sql.cerbridge.{Columns, Plans}
import org.apache.spark.sql.types._

import sparkcer.engine.ceql.SelectList
import sparkcer.internal.output.MatchSchema

/** The measures of a query and its HAVING, as expressions over the columns of a match row. Names are found by
  * [[MeasureText]]. Types are resolved by Spark, against DataFrames without rows.
  *
  * They come after everything else, in a projection and a filter of their own, so the engine, its state and the
  * identity of a match do not know them. They only decide which variables are selected and which columns of events are
  * kept.
  */
final private[sparkcer] class MeasureBinding(b: Binding) {
  import MeasureText.{Event, Value, value}

  private val query = b.program.query

  private val measures: Vector[(SelectList.Measure, MeasureText)] =
    query.select.measures.foldLeft(Vector.empty[(SelectList.Measure, MeasureText)]) { (before, m) =>
      val first = before.map(_._2.aggregates.length).sum
      before :+ (m -> new MeasureText(b, m.sql, m.offset, Map.empty, first, "CER_UNKNOWN_COLUMN.MEASURE"))
    }

  private val having: Option[MeasureText] = query.having.map { h =>
    val named = measures.map { case (m, text) => m.name.value -> text.expression }.toMap
    new MeasureText(b, h.sql, h.offset, named, measures.map(_._2.aggregates.length).sum, "CER_UNKNOWN_COLUMN.HAVING")
  }

  private val texts: Vector[MeasureText] = measures.map(_._2) ++ having
  private val aggregates: Vector[MeasureText.Aggregate] = texts.flatMap(_.aggregates)

  /** The columns of events that they read. */
  val columns: Set[String] = {
    def of(e: Expression): Set[String] = e
      .collect { case Names(x +: column +: _) if x != MatchSchema.Key => column }
      .flatMap(c => b.schema.find(f => b.same(f.name, c)).map(_.name))
      .toSet
    val whole = aggregates.exists(a => a.argument.isEmpty && a.function != "count")
    if (whole) b.schema.fieldNames.toSet
    else (texts.map(_.expression) ++ aggregates.flatMap(_.argument)).flatMap(of).toSet
  }

  // Types

  private lazy val row = Plans.empty(b.df, b.matchSchema.named)
  private lazy val rowOf: Map[String, Attribute] = Plans.planOf(row).output.map(a => a.name -> a).toMap

  /** The columns of a match row and one event, for the arguments of aggregates. */
  private lazy val rowAndEvent =
    Plans.empty(b.df, StructType(StructField(Event, b.kept, nullable = false) +: b.matchSchema.named))

  /** The columns of a match row and the values of all aggregates. */
  private lazy val rowAndValues = {
    val fields = values.zipWithIndex.map { case (e, i) => StructField(value(i), e.dataType, e.nullable) }
    Plans.empty(b.df, StructType(b.matchSchema.named ++ fields))
  }

  private lazy val values: Vector[Expression] = aggregates.map { a =>
    val events = new EventsOf(b.program.columns.find(_.variable == a.variable).get, rowOf(a.variable), b.kept)
    def over(e: Expression) = resolved(rowAndEvent, e, a.sql, a.offset).transform {
      case c: Attribute if c.name != Event => rowOf.getOrElse(c.name, c)
    }
    (a.function, a.argument) match {
      case ("count", None)                  => events.count
      case ("first", None)                  => events.first
      case ("last", None)                   => events.last
      case ("first", Some(e))               => events.ofOne(events.first, over(e))
      case ("last", Some(e))                => events.ofOne(events.last, over(e))
      case ("collect", Some(e))             => events.values(over(e))
      case ("count", Some(e)) if a.distinct => events.distinct(over(e))
      case (_, Some(e))                     => events.folded(over(a.call(e)))
      case (other, None)                    => throw new IllegalStateException(s"$other takes no events")
    }
  }

  /** An expression over the columns of a match row. */
  private def typed(text: MeasureText): Expression = {
    val whole = resolved(rowAndValues, text.expression, text.sql, text.offset).transform { case a: Attribute =>
      if (a.name.startsWith(Value)) values(a.name.stripPrefix(Value).toInt) else rowOf(a.name)
    }
    resolved(row, whole, text.sql, text.offset)
  }

  private def resolved(frame: DataFrame, e: Expression, sql: String, offset: Int): Expression = {
    val found =
      try Columns.resolve(frame, Columns.column(b.params.bind(e)))
      catch {
        case e: AnalysisException =>
          b.fail(offset, "CER_TYPE_MISMATCH.MEASURE", "sql" -> sql, "reason" -> words(b.firstLine(e), sql))
      }
    def refuse(what: String) = b.fail(offset, "CER_UNSUPPORTED.MEASURE", "what" -> what, "sql" -> sql)
    if (!found.references.subsetOf(AttributeSet(Plans.planOf(frame).output)))
      refuse("a function that returns several rows")
    found match {
      case AggregateExpression(f, _, _, _, _) if frame eq rowAndEvent =>
        f.children.flatMap(b.refusal).foreach(r => refuse(r._2))
      case _ =>
        if (found.exists(_.isInstanceOf[AggregateFunction]))
          b.fail(offset, "CER_UNSUPPORTED.AGGREGATE_OF_MATCH", "sql" -> sql)
        b.refusal(found).foreach(r => refuse(r._2))
    }
    found
  }

  /** The message of Spark with the names of the query. */
  private def words(message: String, sql: String): String = {
    val variable = aggregates.find(_.sql == sql).fold("x")(_.variable)
    val named = aggregates.indices.reverse.map(i => value(i) -> aggregates(i).shown) ++
      Seq(Event -> variable, s"${MatchSchema.Key}." -> "")
    named.foldLeft(message) { case (text, (name, shown)) =>
      text.replaceAll(s"`?${Regex.quote(name)}`?", Regex.quoteReplacement(shown))
    }
  }

  /** The measures in order, as expressions over the columns of a match row. */
  lazy val bound: Vector[(SelectList.Measure, Expression)] =
    measures.map { case (m, text) => m -> typed(text) }

  /** HAVING, as an expression over the columns of a match row. */
  lazy val condition: Option[Expression] = having.map { h =>
    val found = typed(h)
    if (found.dataType != BooleanType)
      b.fail(h.offset, "CER_TYPE_MISMATCH.HAVING", "sql" -> h.sql, "type" -> found.dataType.sql)
    found
  }

  /** Fails if one of them does not fit. */
  def check(): Unit = { bound: Unit; condition: Unit }
}
