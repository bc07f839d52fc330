package sparkcer.internal.bind

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.{Expression, LambdaFunction, UnresolvedNamedLambdaVariable}

/** Replaces the names in an expression as Spark has parsed it. Arguments of lambda functions are left alone.
  *
  * @param same
  *   whether two names are the same
  * @param at
  *   what stands for a name, which is given as the names between its dots
  */
private[bind] class Names(same: (String, String) => Boolean, at: Seq[String] => Expression) {

  /** What stands for a whole expression, so that the names in it are not looked at.
    *
    * @param arguments
    *   of the lambda functions around it
    */
  protected def whole(e: Expression, arguments: Seq[String]): Option[Expression] = None

  final def apply(e: Expression, arguments: Seq[String] = Nil): Expression = whole(e, arguments).getOrElse(e match {
    case UnresolvedAttribute(names)                                                     => at(names)
    case UnresolvedNamedLambdaVariable(names) if !arguments.exists(same(_, names.head)) =>
      at(names) match { case UnresolvedAttribute(n) => UnresolvedNamedLambdaVariable(n); case other => other }
    case f: LambdaFunction => f.copy(function = apply(f.function, arguments ++ Names.argumentsOf(f)))
    case other             => other.mapChildren(apply(_, arguments))
  })
}

private[bind] object Names {

  /** A name, as the names between its dots. */
  def unapply(e: Expression): Option[Seq[String]] = e match {
    case UnresolvedAttribute(names)           => Some(names)
    case UnresolvedNamedLambdaVariable(names) => Some(names)
    case _                                    => None
  }

  def argumentsOf(f: LambdaFunction): Seq[String] =
    f.arguments.collect { case UnresolvedNamedLambdaVariable(names) => names.head }
}
