package sparkcer.views.translate

import org.apache.spark.sql.catalyst.util.quoteIfNeeded
import org.apache.spark.sql.types._

import sparkcer.views.statement.{SqlSpan, SqlToken}

/** A column of a helper view from which aggregates are computed.
  *
  * @param argument
  *   what is aggregated; none for the number of rows
  * @param wide
  *   whether a sum is a DECIMAL where Spark's sum would be a BIGINT
  */
final private[views] case class Kept(name: String, kind: Kept.Kind, argument: Option[SqlExpression], wide: Boolean) {
  def text: String = quoteIfNeeded(name)
}

private[views] object Kept {
  sealed trait Kind

  /** All rows, and those whose argument is not NULL. */
  case object Rows extends Kind
  case object Values extends Kind
  case object Sum extends Kind
  case object Min extends Kind
  case object Max extends Kind
}

/** The aggregates of a query and the helper columns that they need, each once.
  *
  * A sum of BIGINT inside an average is *wide*, a DECIMAL, because Spark's avg does not overflow either.
  */
final private[views] class Aggregates(query: ViewQuery, names: FreshNames, needsValues: Boolean) {
  import Aggregates._
  import Kept._

  private var kept = Vector.empty[Kept]

  /** The number of rows, under the name that the paper gives it. */
  lazy val rows: Kept = keep(Rows, None)

  private def keep(kind: Kind, argument: Option[SqlExpression], wide: Boolean = false): Kept = {
    def key(a: Option[SqlExpression]) = a.map(e => SqlToken.of(e.span).map(_.text))
    kept.find(k => k.kind == kind && k.wide == wide && key(k.argument) == key(argument)).getOrElse {
      val base = kind match {
        case Rows | Values => "ct"
        case Sum           => "sum"
        case Min           => "min"
        case Max           => "max"
      }
      // A column's own name where it is only a column.
      val suffix = argument.fold("")(a =>
        a.attributes match {
          case Vector(one) if one.span == a.span && one.path.length == 1 => s"_${one.path.head}"
          case _                                                         => s"_${kept.length + 1}"
        }
      )
      val made = Kept(names.fresh(base + suffix), kind, argument, wide)
      kept = kept :+ made
      made
    }
  }

  val calls: Vector[Call] = query.expressions.flatMap(_.aggregates).map { a =>
    a.argument.foreach(_.attributes.foreach(query.checkColumn))
    val valueType = a.argument.map(_.dataType(query.source.schema))
    val result = SqlExpression.dataType(a.span.text, query.source.schema, a.span)
    val needed = a.name match {
      case "count" => Vector(keep(if (a.argument.isEmpty) Rows else Values, a.argument))
      case "min"   => Vector(keep(Min, a.argument))
      case "max"   => Vector(keep(Max, a.argument))
      case "sum"   => keep(Sum, a.argument) +: (if (needsValues) Vector(keep(Values, a.argument)) else Vector.empty)
      case _       =>
        checkAverage(a, valueType.get)
        Vector(keep(Sum, a.argument, valueType.contains(LongType)), keep(Values, a.argument))
    }
    Call(a, needed, valueType, result)
  }

  def columns: Vector[Kept] = kept

  private def checkAverage(a: SqlExpression.Aggregate, of: DataType): Unit = of match {
    case d: DecimalType if d.precision > MostDigitsOfAverage =>
      a.span.fail(
        s"avg of ${d.sql} would lose digits. Cast it to DECIMAL($MostDigitsOfAverage, ${d.scale}) or smaller.",
        "CER_UNSUPPORTED"
      )
    case _: NumericType => ()
    case other          => a.span.fail(s"avg takes a number, and this is ${other.sql}.", "CER_TYPE_MISMATCH")
  }

  /** An expression of the query with its aggregates replaced.
    *
    * @param of
    *   how the value of a helper column is written
    */
  def replaced(e: SqlExpression, of: Kept => String): Seq[(SqlSpan, String)] =
    e.aggregates.map(a => a.span -> calls.find(_.aggregate == a).get.text(of, needsValues))
}

private[views] object Aggregates {
  val Names: Set[String] = Set("count", "sum", "avg", "mean", "min", "max")

  /** With more, Spark's division keeps fewer digits than its avg has. */
  private val MostDigitsOfAverage = 24

  /** An aggregate of the query, and the helper columns that it is made of. */
  final case class Call(
      aggregate: SqlExpression.Aggregate,
      needed: Vector[Kept],
      valueType: Option[DataType],
      result: DataType
  ) {

    /** Can it be had by subtraction, without rounding and without overflow? */
    def subtractable: Boolean = aggregate.name match {
      case "count"       => true
      case "sum" | "avg" =>
        valueType.get match {
          case _: ByteType | _: ShortType | _: IntegerType | _: LongType => true
          case d: DecimalType                                            => d.precision <= 18
          case _                                                         => false
        }
      case _ => false
    }

    def extreme: Boolean = aggregate.name == "min" || aggregate.name == "max"

    /** The column's name where the query gives none. */
    def implied: String =
      if (aggregate.name == "avg") s"avg_${needed.head.text.stripPrefix("sum_")}" else needed.head.text

    def text(of: Kept => String, needsValues: Boolean): String = aggregate.name match {
      case "sum" if needsValues => s"CASE WHEN ${of(needed(1))} > 0 THEN CAST(${of(needed.head)} AS ${result.sql}) END"
      case "sum" if result.isInstanceOf[DecimalType] => s"CAST(${of(needed.head)} AS ${result.sql})"
      case "avg" if result.isInstanceOf[DecimalType] =>
        s"CAST(${of(needed.head)} / nullif(CAST(${of(needed(1))} AS DECIMAL(20,0)), 0) AS ${result.sql})"
      case "avg" => s"CAST(${of(needed.head)} AS DOUBLE) / nullif(${of(needed(1))}, 0)"
      case _     => of(needed.head)
    }
  }
}

/** Names that are taken, and new ones beside them. */
final private[views] class FreshNames(taken: Iterable[String]) {
  private val used = scala.collection.mutable.Set.from(taken.map(_.toLowerCase))

  def fresh(wish: String): String = {
    val name = Iterator.iterate(wish)(_ + "_").find(n => !used(n.toLowerCase)).get
    used += name.toLowerCase
    name
  }
}
