package sparkcer.views.translate

import org.apache.spark.sql.types._

import sparkcer.views.statement.{SqlSpan, SqlToken}

/** The aggregates of a query, and the columns of the helper view that they need. Aggregates share equal columns.
  *
  * @param needsValues
  *   whether a sum also needs the number of its values, to tell a sum of nothing, which is NULL, from zero
  */
final private[views] class Aggregates(query: ViewQuery, names: FreshNames, needsValues: Boolean) {
  import Aggregates._
  import HelperColumn._

  private var kept = Vector.empty[HelperColumn]

  /** The number of rows. It is called `ct`, as in the ViewDF paper. */
  lazy val rows: HelperColumn = keep(Rows, None)

  private def keep(kind: Kind, argument: Option[SqlExpression], wide: Boolean = false): HelperColumn = {
    def key(a: Option[SqlExpression]) = a.map(e => SqlToken.of(e.span).map(_.text))
    kept.find(k => k.kind == kind && k.wide == wide && key(k.argument) == key(argument)).getOrElse {
      val base = kind match {
        case Rows | Values => "ct"
        case Sum           => "sum"
        case Min           => "min"
        case Max           => "max"
      }
      // The name of the column if the argument is only a column.
      val suffix = argument.fold("")(a =>
        a.attributes match {
          case Vector(one) if one.span == a.span && one.path.length == 1 => s"_${one.path.head}"
          case _                                                         => s"_${kept.length + 1}"
        }
      )
      val made = HelperColumn(names.fresh(base + suffix), kind, argument, wide)
      kept = kept :+ made
      made
    }
  }

  val calls: Vector[AggregateCall] = query.expressions.flatMap(_.aggregates).map { a =>
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
        // Spark's avg of BIGINT does not overflow, so its sum is a DECIMAL.
        Vector(keep(Sum, a.argument, valueType.contains(LongType)), keep(Values, a.argument))
    }
    AggregateCall(a, needed, valueType, result)
  }

  def columns: Vector[HelperColumn] = kept

  private def checkAverage(a: SqlExpression.Aggregate, of: DataType): Unit = of match {
    case d: DecimalType if d.precision > MostDigitsOfAverage =>
      val largest = DecimalType(MostDigitsOfAverage, d.scale.min(MostDigitsOfAverage))
      a.span.fail("CER_UNSUPPORTED.VIEW_AVERAGE", "type" -> d.sql, "largest" -> largest.sql)
    case _: NumericType => ()
    case other          => a.span.fail("CER_TYPE_MISMATCH.VIEW_AVERAGE", "type" -> other.sql)
  }

  /** The aggregates in an expression of the query, and what replaces them.
    *
    * @param of
    *   the SQL for the value of a helper column
    */
  def replaced(e: SqlExpression, of: HelperColumn => String): Seq[(SqlSpan, String)] =
    e.aggregates.map(a => a.span -> calls.find(_.aggregate == a).get.text(of, needsValues))
}

private[views] object Aggregates {
  val Names: Set[String] = Set("count", "sum", "avg", "mean", "min", "max")

  /** With more digits, the result of a division in Spark has a smaller scale than its avg. */
  private val MostDigitsOfAverage = 24

  /** An aggregate of the query, and the helper columns that it is computed from. */
  final case class AggregateCall(
      aggregate: SqlExpression.Aggregate,
      needed: Vector[HelperColumn],
      valueType: Option[DataType],
      result: DataType
  ) {

    /** Can it be computed by subtraction, without rounding and without overflow? */
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

    /** The name of the column if the query does not name it. */
    def implied: String =
      if (aggregate.name == "avg") s"avg_${needed.head.text.stripPrefix("sum_")}" else needed.head.text

    def text(of: HelperColumn => String, needsValues: Boolean): String = aggregate.name match {
      case "sum" if needsValues => s"CASE WHEN ${of(needed(1))} > 0 THEN CAST(${of(needed.head)} AS ${result.sql}) END"
      case "sum" if result.isInstanceOf[DecimalType] => s"CAST(${of(needed.head)} AS ${result.sql})"
      case "avg" if result.isInstanceOf[DecimalType] =>
        s"CAST(${of(needed.head)} / nullif(CAST(${of(needed(1))} AS DECIMAL(20,0)), 0) AS ${result.sql})"
      case "avg" => s"CAST(${of(needed.head)} AS DOUBLE) / nullif(${of(needed(1))}, 0)"
      case _     => of(needed.head)
    }
  }
}
