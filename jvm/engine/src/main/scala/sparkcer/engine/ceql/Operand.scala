package sparkcer.engine.ceql

/** One side of a comparison between events: attributes of variables, literals, arithmetic and function calls. */
sealed trait Operand {
  import Operand._

  /** The variables it names, in order of appearance. */
  def variables: Vector[Name] = this match {
    case Attribute(x, _) => Vector(x)
    case Literal(_)      => Vector.empty
    case Call(_, args)   => args.flatMap(_.variables).distinct
    case Negative(of)    => of.variables
    case a: Aggregate    => Vector(a.variable)
    case Binary(_, l, r) => (l.variables ++ r.variables).distinct
  }

  /** As Spark SQL, with attributes written as the caller wants them. */
  def sql(attribute: Attribute => String): String = {
    def inside(o: Operand): String = o match {
      case _: Binary | _: Negative => s"(${o.sql(attribute)})"
      case other                   => other.sql(attribute)
    }
    this match {
      case a: Attribute         => attribute(a)
      case Literal(text)        => text
      case Call(function, args) => args.map(_.sql(attribute)).mkString(s"$function(", ", ", ")")
      case Negative(of)         => s"-${inside(of)}"
      case a: Aggregate         => a.shown
      case Binary(sign, l, r)   => s"${inside(l)} $sign ${inside(r)}"
    }
  }
}

object Operand {

  /** `v.a`; the path is SQL, with backticks where a name needs them. */
  final case class Attribute(variable: Name, path: String) extends Operand
  final case class Literal(sql: String) extends Operand
  final case class Call(function: String, arguments: Vector[Operand]) extends Operand
  final case class Negative(of: Operand) extends Operand
  final case class Binary(sign: String, left: Operand, right: Operand) extends Operand

  /** `count(x)`, `min(x.a)` or `max(x.a)`, which can only be a side of a comparison with a constant.
    *
    * @param argument
    *   over the columns of an event of x, none for `count(x)`
    * @param shown
    *   as it was written
    */
  final case class Aggregate(function: String, variable: Name, argument: Option[Operand])(
      val shown: String,
      val offset: Int
  ) extends Operand
}

/** A comparison, by the sign of SQL. */
sealed abstract class Operator(val sign: String) {

  /** Is it true for two values whose comparison gives `order`? */
  def holds(order: Int): Boolean = this match {
    case Operator.Equal        => order == 0
    case Operator.NotEqual     => order != 0
    case Operator.Less         => order < 0
    case Operator.LessEqual    => order <= 0
    case Operator.Greater      => order > 0
    case Operator.GreaterEqual => order >= 0
  }

  /** The operator with its sides swapped. */
  def mirrored: Operator = this match {
    case Operator.Less         => Operator.Greater
    case Operator.LessEqual    => Operator.GreaterEqual
    case Operator.Greater      => Operator.Less
    case Operator.GreaterEqual => Operator.LessEqual
    case same                  => same
  }
}

object Operator {
  case object Equal extends Operator("=")
  case object NotEqual extends Operator("!=")
  case object Less extends Operator("<")
  case object LessEqual extends Operator("<=")
  case object Greater extends Operator(">")
  case object GreaterEqual extends Operator(">=")

  val bySign: Map[String, Operator] =
    Seq(Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual).map(o => o.sign -> o).toMap ++
      Seq("==" -> Equal, "<>" -> NotEqual)
}
