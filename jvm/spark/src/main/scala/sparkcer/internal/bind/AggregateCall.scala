package sparkcer.internal.bind

import java.util.Locale

import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, First, Last}

/** A call of an aggregate over the events of a variable, as Spark has parsed it.
  *
  * @param form
  *   what it has beside arguments that it cannot have
  * @param call
  *   the same call of another argument
  */
final private[bind] case class AggregateCall(
    name: String,
    arguments: Seq[Expression],
    distinct: Boolean,
    form: Option[String],
    call: Expression => Expression
)

private[bind] object AggregateCall {
  private val Names = Set("count", "sum", "avg", "min", "max", "first", "last", "collect")

  /** Spark's parser has a form of its own for `first` and `last` of one argument. */
  def unapply(e: Expression): Option[AggregateCall] = e match {
    case f: UnresolvedFunction if f.nameParts.length == 1 && Names(f.nameParts.head.toLowerCase(Locale.ROOT)) =>
      val form =
        if (f.filter.isDefined) Some("FILTER (WHERE …)")
        else if (ignoresNulls(f)) Some("IGNORE NULLS")
        else None
      Some(
        AggregateCall(
          f.nameParts.head.toLowerCase(Locale.ROOT),
          f.arguments,
          f.isDistinct,
          form,
          a => f.copy(arguments = Seq(a))
        )
      )
    case AggregateExpression(First(child, ignoreNulls), _, _, _, _) => Some(ofOne("first", child, ignoreNulls))
    case AggregateExpression(Last(child, ignoreNulls), _, _, _, _)  => Some(ofOne("last", child, ignoreNulls))
    case _                                                          => None
  }

  /** A Boolean, or since Spark 4.2 an option of one. */
  private def ignoresNulls(f: UnresolvedFunction): Boolean = f.productElement(4) match {
    case said: Boolean => said
    case Some(true)    => true
    case _             => false
  }

  private def ofOne(name: String, argument: Expression, ignoreNulls: Boolean) =
    AggregateCall(name, Seq(argument), distinct = false, if (ignoreNulls) Some("IGNORE NULLS") else None, identity)
}
