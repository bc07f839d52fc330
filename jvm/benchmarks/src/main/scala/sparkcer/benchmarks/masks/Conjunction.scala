package sparkcer.benchmarks.masks

/** A condition taken apart into what a table can look up and what has to be asked of the event.
  *
  * An event passes when every membership is true, every expression of `holds` is TRUE and none of `fails` is (FALSE and
  * NULL are the same here); with `negated`, when not so. The test of the event's type is a membership like any other.
  *
  * @param holds
  *   numbers of expressions, shared between conditions
  */
final case class Conjunction(
    memberships: Vector[Membership],
    holds: Vector[Int] = Vector.empty,
    fails: Vector[Int] = Vector.empty,
    negated: Boolean = false
)

/** `column IN (values)`, or with `excluded` what is not so: another value, or NULL.
  *
  * Values must be equal, by `equals` and `hashCode`, exactly when SQL's `=` says so. That holds for integers and for
  * strings compared byte by byte; not for floating point numbers (-0.0, NaN), decimals of several scales or collated
  * strings, which are expressions to ask. Integers are given as `java.lang.Long`, for [[Row.long]].
  */
final case class Membership(column: Int, values: Set[AnyRef], excluded: Boolean = false)

/** An event, as the table reads it. */
trait Row {

  /** Is a column of integers NULL here? */
  def isNull(column: Int): Boolean

  /** A column whose constants are all `java.lang.Long`. Not called on NULL. */
  def long(column: Int): Long

  /** Any other column; null for NULL. */
  def ref(column: Int): AnyRef

  /** Is the expression TRUE? */
  def test(expression: Int): Boolean
}
