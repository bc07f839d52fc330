package sparkcer.engine.ceql

/** A test of several events at once. What it compares is Spark SQL, which the engine does not read: values and truths
  * come from outside, by the number of a term or of an expression.
  */
sealed trait Comparison {

  /** The variables whose events take part. An event may be in several. */
  def variables: Vector[String]

  /** Is it about two events of its first variable, one after the other? */
  def previous: Boolean = false

  /** For people. */
  def show: String

  /** Where it stands in the query, for messages. */
  def offset: Int
}

/** SQL over the columns of one event of a variable.
  *
  * @param shown
  *   the same for people, with the variable
  */
final case class Term(variable: String, sql: String)(val shown: String)

object Comparison {

  /** The word for the preceding event of a variable. */
  val Prev = "PREV"

  /** Stands in a term for every event that is marked by anything. */
  val Marked = ""

  /** `x.a < y.b`, of two variables: holds of every event of the one with every event of the other. */
  final case class Pair(left: Term, operator: Operator, right: Term)(val offset: Int) extends Comparison {
    def variables: Vector[String] = Vector(left.variable, right.variable)
    def show: String = s"${left.shown} ${operator.sign} ${right.shown}"
  }

  /** PART-BY: all terms of all events have one value, which is not NULL. */
  final case class Same(terms: Vector[Term])(val offset: Int) extends Comparison {
    def variables: Vector[String] = terms.map(_.variable).distinct
    def show: String = terms.map(_.shown).mkString("PART-BY [", ", ", "]")
  }

  /** `x[b < PREV.a]`, as `PREV.a > b`: holds of each event of the variable but the first, with the one before it. */
  final case class Consecutive(before: Term, operator: Operator, current: Term)(val offset: Int) extends Comparison {
    def variables: Vector[String] = Vector(current.variable)
    override def previous: Boolean = true
    def show: String = s"${current.variable}[${current.shown} ${operator.mirrored.sign} ${before.shown}]"
  }

  /** Any other expression: holds of every choice of one event for each variable, and where it has PREV, of each event
    * of the first variable with the one before it.
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
