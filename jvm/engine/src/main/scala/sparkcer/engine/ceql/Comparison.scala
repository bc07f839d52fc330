package sparkcer.engine.ceql

/** A comparison between events. It is Spark SQL, which the engine does not interpret: the values of its terms and the
  * results of its expressions come from the caller, by number.
  */
sealed trait Comparison {

  /** The variables whose events are compared. An event can belong to several of them. */
  def variables: Vector[String]

  /** Does it compare consecutive events of its first variable? */
  def previous: Boolean = false

  /** As text, for explain and messages. */
  def show: String

  /** Its place in the query, for messages. */
  def offset: Int
}

/** SQL over the columns of one event of a variable.
  *
  * @param shown
  *   the same as text for messages, with the variable
  */
final case class Term(variable: String, sql: String)(val shown: String)

object Comparison {

  /** The word for the preceding event of a variable. */
  val Prev = "PREV"

  /** In a term: every event that is bound to any variable. */
  val Marked = ""

  /** `x.a < y.b`, for two variables: true for every pair of an event of the one and an event of the other. */
  final case class Pair(left: Term, operator: Operator, right: Term)(val offset: Int) extends Comparison {
    def variables: Vector[String] = Vector(left.variable, right.variable)
    def show: String = s"${left.shown} ${operator.sign} ${right.shown}"
  }

  /** PART-BY: all terms of all events have one value, which is not NULL. */
  final case class Same(terms: Vector[Term])(val offset: Int) extends Comparison {
    def variables: Vector[String] = terms.map(_.variable).distinct
    def show: String = terms.map(_.shown).mkString("PART-BY [", ", ", "]")
  }

  /** `x[b < PREV.a]`, stored as `PREV.a > b`: true for each event of the variable and the one before it. */
  final case class Consecutive(before: Term, operator: Operator, current: Term)(val offset: Int) extends Comparison {
    def variables: Vector[String] = Vector(current.variable)
    override def previous: Boolean = true
    def show: String = s"${current.variable}[${current.shown} ${operator.mirrored.sign} ${before.shown}]"
  }

  /** `(φ WITHIN d)`: the last event of φ is at most so long after the first. These two events are the variables, whose
    * names nobody can write.
    *
    * @param number
    *   which of the sub-windows of the query it is
    */
  final case class Span(number: Int, window: Window)(val offset: Int) extends Comparison {
    def first: String = s"first event $number"
    def last: String = s"last event $number"
    def variables: Vector[String] = Vector(last, first)
    def show: String = s"(… WITHIN ${Printer.print(window)})"

    /** The terms, `earliest <= begin`: the earliest time that is not too long before the last event, and the time of
      * the first event. They have no SQL, because only the caller knows the column and its type.
      */
    def earliest: Term = Term(last, "")(s"the time of the $last")
    def begin: Term = Term(first, "")(s"the time of the $first")
  }

  /** Any other expression: true for every choice of one event for each variable, and if it has PREV, for each event of
    * the first variable with the one before it.
    *
    * @param own
    *   the variable whose columns may be written without a prefix, the first of `variables`; other columns are
    *   `variable.column`, or `PREV.column`
    */
  final case class Expression(sql: String, own: Option[String], others: Vector[String], override val previous: Boolean)(
      val offset: Int
  ) extends Comparison {
    def variables: Vector[String] = own.toVector ++ others
    def show: String = own.fold(sql)(x => s"$x[$sql]")
  }
}
