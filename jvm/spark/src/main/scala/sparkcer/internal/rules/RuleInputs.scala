package sparkcer.internal.rules

import scala.collection.mutable

import org.apache.spark.sql.{Column, DataFrame}
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeMap, Expression}
import org.apache.spark.sql.cerbridge.{CerException, Columns, Plans, Sessions}
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.types.{StringType, StructType}

import sparkcer.TypeColumn
import sparkcer.engine.ceql.{CeqlException, Query}
import sparkcer.internal.bind.{Inputs, Options, Types}

/** The events of a set of rules. A rule sees what it would see alone, whatever the other rules read. */
sealed abstract private[sparkcer] class RuleInputs {

  /** All events as one DataFrame. */
  def all: DataFrame

  /** The events of a rule, if it were alone. Rules that see the same have the same DataFrame. */
  def of(query: Query): DataFrame

  /** Whether an event of `all` is one of the rule's, or None if all are. */
  def isOf(query: Query): Option[Column]

  /** The columns of an event that users know of. */
  lazy val schema: StructType = StructType(all.schema.filterNot(Inputs.isStream))

  private lazy val same = Sessions.sameName(all)

  /** The place of a column among some, as the session compares names. */
  def place(name: String, among: StructType): Int = among.fieldNames.indexWhere(same(_, name))

  /** Columns of a rule's events as expressions over the columns of `all`. */
  def resolved(own: DataFrame, columns: Seq[Column]): Seq[Expression] = {
    val (found, child) = Columns.resolved(own, columns)
    if (own eq all) found
    else {
      val there = Plans.planOf(all).output
      val places = AttributeMap(child.output.map(a => a -> there.find(b => same(b.name, a.name)).get))
      found.map(_.transform { case a: Attribute => places.getOrElse(a, a) })
    }
  }
}

private[sparkcer] object RuleInputs {

  /** Where the types of events are, in words. Whether a rule uses them is part of the rule. */
  def types(said: TypeColumn): String = said match {
    case TypeColumn.Named(name) => s"type='$name'"
    case TypeColumn.None        => "no type column"
    case TypeColumn.Default     => s"type='${Types.Usual}' by default"
  }

  def apply(df: DataFrame): RuleInputs = new RuleInputs {
    def all: DataFrame = df
    def of(query: Query): DataFrame = df
    def isOf(query: Query): Option[Column] = None
  }

  /** Inputs by the names that rules have for them in FROM. They are merged in this order whatever the rules are: on a
    * checkpoint, Spark knows the sources of a stream by their places.
    */
  def apply(inputs: Seq[(String, DataFrame)], options: Options): RuleInputs = new Several(inputs.toVector, options)

  final private class Several(inputs: Vector[(String, DataFrame)], options: Options) extends RuleInputs {
    private val names = inputs.map(_._1)
    private val byName = inputs.toMap

    /** Where types are. */
    private val typeName = options.eventType match {
      case TypeColumn.Named(name) => name
      case _                      => Types.Usual
    }

    private def has(name: String): Boolean = Inputs.field(byName(name), typeName).isDefined

    /** Do events of inputs without a type column show the name of the input there? */
    private val showsNames = inputs.flatMap(i => Inputs.field(i._2, typeName)).forall(_.dataType == StringType)

    val all: DataFrame = Inputs.merge(inputs, if (showsNames) Some(typeName) else None)

    private val stream: Column = col(Inputs.streamOf(all.schema).get.name)

    /** By the names in FROM, and by whether the type column is used. */
    private val merged = mutable.HashMap.empty[(Vector[String], Option[String]), DataFrame]

    def of(query: Query): DataFrame = {
      val from = query.from.map(_.value)
      query.from.find(n => !byName.contains(n.value)).foreach { unknown =>
        throw new CeqlException(
          query.text,
          unknown.offset,
          "CER_UNKNOWN_STREAM.NOT_AN_INPUT",
          "name" -> unknown.value,
          "names" -> names.mkString(", "),
          "suggestion" -> CeqlException.suggestion(unknown.value, names)
        )
      }
      val ordered = names.filter(from.contains)
      if (from.distinct == from && from != ordered)
        throw new CeqlException(
          query.text,
          query.from.head.offset,
          "CER_RULES.INPUT_ORDER",
          "from" -> ordered.mkString(", ")
        )
      val column = Types.column(query, options.eventType)
      merged.getOrElseUpdate(
        (from, column), {
          mustShowTheSame(from, column)
          Inputs.merge(query, byName.view.filterKeys(from.contains).toMap, options)
        }
      )
    }

    /** Fails if events without a type column would have another value there than the rule alone gives them. */
    private def mustShowTheSame(from: Vector[String], column: Option[String]): Unit = {
      val alone = Inputs.shownType(from.map(n => n -> byName(n)), column).isDefined
      if (from.length > 1 && !from.forall(has) && alone != showsNames)
        throw new CerException(
          "CER_RULES.INPUT_TYPES",
          "column" -> typeName,
          "with" -> names.filter(has).mkString(", "),
          "without" -> from.filterNot(has).mkString(", ")
        )
    }

    def isOf(query: Query): Option[Column] = {
      val from = query.from.map(_.value)
      if (names.forall(from.contains)) None
      else if (from.length == 1) Some(stream === from.head)
      else Some(stream.isin(from: _*))
    }
  }
}
