package sparkcer.engine.ceql

/** A CEQL query as written. Offsets point into `text` and serve error messages only. */
final case class Query(
    select: Select,
    from: Vector[Name],
    where: Formula,
    partitionBy: Vector[Name] = Vector.empty,
    within: Option[Window] = None,
    consumeBy: Consume = Consume.None,
    limit: Option[Quantity] = None,
    having: Option[SqlCondition] = None
)(val text: String) {

  /** The place of the word WITHIN, if it is written. */
  def withinOffset: Option[Int] = new QueryLexer(text).query().filter(_.isWord("WITHIN")).lastOption.map(_.start)

  /** The columns of every match that measures can name. */
  def ofEveryMatch: Vector[String] = Vector("start", "end") ++ partitionBy.map(n => Lexer.path(n.value).last)
}

/** A name with its place in the text. Two names are equal when they spell the same. */
final case class Name(value: String)(val offset: Int)

/** SELECT: the strategy, and what of a match is shown. */
final case class Select(strategy: Strategy, distinct: Boolean, list: SelectList) {

  /** What stands between the commas. */
  def items: Vector[SelectList.Shown] = list match {
    case SelectList.All                            => Vector(SelectList.Star)
    case SelectList.NoVariables | SelectList.Count => Vector.empty
    case SelectList.Variables(items)               => items
    case SelectList.Columns(items, _)              => items
  }

  def measures: Vector[SelectList.Measure] = items.collect { case m: SelectList.Measure => m }
}

sealed trait SelectList
object SelectList {

  /** `*`: every AS variable, and every event type that occurs outside any AS. */
  case object All extends SelectList

  /** `NONE`: the interval alone. */
  case object NoVariables extends SelectList

  /** `COUNT(*)`: how many matches an event closes. */
  case object Count extends SelectList

  final case class Variables(items: Vector[Item]) extends SelectList

  /** A list that has more than variables: measures, other names for variables, `*` beside them, or the word FLAT.
    *
    * @param flat
    *   whether a variable that binds at most one event is shown as a column for each of its columns
    */
  final case class Columns(items: Vector[Shown], flat: Boolean) extends SelectList

  /** What stands between two commas. */
  sealed trait Shown

  /** `*` in a list. */
  case object Star extends Shown

  /** `x`, or `x[a, b]` with the attributes to show, perhaps under another name. */
  final case class Item(variable: Name, attributes: Option[Vector[Name]], name: Option[Name] = None) extends Shown

  /** `sum(x.price) AS total`: Spark SQL over a match. */
  final case class Measure(sql: String, name: Name)(val offset: Int) extends Shown
}

sealed abstract class Strategy(val word: String)
object Strategy {
  case object All extends Strategy("ALL")
  case object Next extends Strategy("NEXT")
  case object Last extends Strategy("LAST")
  case object Max extends Strategy("MAX")
  case object Strict extends Strategy("STRICT")

  /** ANY is another word for ALL. */
  val byWord: Map[String, Strategy] =
    Seq(All, Next, Last, Max, Strict).map(s => s.word -> s).toMap + ("ANY" -> All)
}

sealed abstract class Consume(val word: String)
object Consume {
  case object None extends Consume("NONE")
  case object Partition extends Consume("PARTITION")
  case object Any extends Consume("ANY")

  val byWord: Map[String, Consume] = Seq(None, Partition, Any).map(c => c.word -> c).toMap
}

/** A number in the text, or a parameter whose value comes with the call. */
sealed trait Quantity
object Quantity {
  final case class Number(value: BigDecimal) extends Quantity
  final case class Parameter(name: Name) extends Quantity

  /** A whole number that is known by now. */
  def whole(q: Quantity): Int = q match {
    case Number(n)       => n.toIntExact
    case Parameter(name) => throw new IllegalStateException(s":${name.value} has no value")
  }
}

/** WITHIN: how far apart the ends of a match may be, bound included. */
sealed trait Window
object Window {

  /** `n EVENTS`: positions of the substream. */
  final case class Events(n: Quantity) extends Window

  /** `n [a]`: the difference of an attribute. */
  final case class Attribute(n: Quantity, attribute: Name) extends Window

  /** `2 hours 30 minutes`: the time column, in microseconds. */
  final case class Duration(micros: Long) extends Window

  /** `:n hours 30 minutes`: a duration, and beside it parameters, each with its unit in microseconds. */
  final case class OpenDuration(micros: Long, parts: Vector[(Name, Long)]) extends Window

  /** `:w`: a duration whose value, a length of time, comes with the call. */
  final case class Length(parameter: Name) extends Window
}

/** A Spark SQL boolean expression over one event's columns, from between brackets, or over a match, from HAVING. CEQL's
  * own forms (`IN {1..5}`, `IN RANGE(l, h)`) are already written in SQL in `sql`; equal SQL is the same condition.
  */
final case class SqlCondition(sql: String)(val offset: Int)

/** What FILTER asks of a whole valuation. */
sealed trait Condition {
  import Condition._

  /** Does it hold of a valuation without events? */
  def holdsOfNothing: Boolean = this match {
    case Holds(_, _)      => true
    case c: Compare       => (c.left.variables ++ c.right.variables).forall(x => Ends.of(x.value).isEmpty)
    case Compared(_)      => true
    case _: Exists        => false
    case _: OfEnd         => false
    case _: Extreme       => false
    case Count(_, op, n)  => n match { case Quantity.Number(v) => op.holds(BigDecimal(0).compare(v)); case _ => false }
    case Counted(_, n, _) => n == 0
    case And(parts)       => parts.forall(_.holdsOfNothing)
    case Or(parts)        => parts.exists(_.holdsOfNothing)
  }
}

object Condition {

  /** `X[P]`: every event of X satisfies P. */
  final case class Holds(variable: Name, condition: SqlCondition) extends Condition

  /** `x.a = y.b`: true of every choice of one event for each variable. */
  final case class Compare(left: Operand, operator: Operator, right: Operand)(val offset: Int) extends Condition

  /** `SOME x[P]`: at least one event of x satisfies P. */
  final case class Exists(variable: Name, condition: SqlCondition) extends Condition

  /** `first(x)[P]`, `last(x)[P]`: there is such an event, and it satisfies P. */
  final case class OfEnd(end: End, variable: Name, condition: SqlCondition) extends Condition

  /** `count(x) >= n`: compares the number of events of x with a whole number. */
  final case class Count(variable: Name, operator: Operator, n: Quantity)(val offset: Int) extends Condition

  /** `max(x.a) < c` and `min(x.a) < c`: compares a value of SQL's `max` or `min` with a constant. It does not hold if
    * it is NULL.
    */
  final case class Extreme(isMax: Boolean, variable: Name, argument: Operand, operator: Operator, bound: Operand)(
      val offset: Int
  ) extends Condition

  /** What [[Comparisons]] made of one of the others: a test of several events. Not written by anybody. */
  final case class Compared(comparison: Comparison) extends Condition

  /** What [[Comparisons]] made of `count(x) op n`: x has so many events, or more if `most` is not given. Not written by
    * anybody.
    */
  final case class Counted(variable: Name, least: Int, most: Option[Int]) extends Condition
  final case class And(parts: Vector[Condition]) extends Condition
  final case class Or(parts: Vector[Condition]) extends Condition

  /** The variables that it names, `first(x)` and `last(x)` among them. */
  def variables(c: Condition): Vector[String] = c match {
    case Holds(x, _)          => Vector(x.value)
    case Exists(x, _)         => Vector(x.value)
    case OfEnd(end, x, _)     => Vector(Ends.name(end, x.value))
    case Count(x, _, _)       => Vector(x.value)
    case Counted(x, _, _)     => Vector(x.value)
    case e: Extreme           => Vector(e.variable.value)
    case Compared(comparison) => comparison.variables
    case c: Compare           => (c.left.variables ++ c.right.variables).map(_.value)
    case And(parts)           => parts.flatMap(variables)
    case Or(parts)            => parts.flatMap(variables)
  }
}

/** A formula of complex event logic (CEL; CORE, Section 2.2), with contiguity and negation of atoms, and with PART-BY
  * and ALL (chain-CEA, Section 3). A chain of one operator is one node, so the depth of a formula is the depth of its
  * parentheses.
  */
sealed trait Formula {
  import Formula._

  def children: Vector[Formula] = this match {
    case _: Atom           => Vector.empty
    case As(body, _)       => Vector(body)
    case Filter(body, _)   => Vector(body)
    case PartBy(body, _)   => Vector(body)
    case Or(parts)         => parts
    case All(parts)        => parts
    case Sequence(parts)   => parts
    case Contiguous(parts) => parts
    case Iterate(body, _)  => Vector(body)
    case r: Repeat         => Vector(r.body)
    case Within(body, _)   => Vector(body)
    case Not(body)         => Vector(body)
    case Absent(body)      => Vector(body)
    case b: NoneBetween    => Vector(b.before, b.absent, b.after)
    case w: Without        => Vector(w.body, w.absent)
    case n: NoneAfter      => Vector(n.body, n.absent)
    case n: NoneBefore     => Vector(n.absent, n.body)
    case Project(body, _)  => Vector(body)
  }

  /** This formula and all below it, left to right. */
  def subformulas: Iterator[Formula] = Iterator.single(this) ++ children.iterator.flatMap(_.subformulas)

  /** The same formula with other ones below it. */
  def mapChildren(f: Formula => Formula): Formula = this match {
    case a: Atom                   => a
    case As(body, x)               => As(f(body), x)
    case Filter(body, c)           => Filter(f(body), c)
    case p @ PartBy(body, keys)    => PartBy(f(body), keys)(p.offset)
    case Or(parts)                 => Or(parts.map(f))
    case All(parts)                => All(parts.map(f))
    case Sequence(parts)           => Sequence(parts.map(f))
    case Contiguous(parts)         => Contiguous(parts.map(f))
    case Iterate(body, contiguous) => Iterate(f(body), contiguous)
    case r: Repeat                 => r.copy(body = f(r.body))(r.offset)
    case w @ Within(body, window)  => Within(f(body), window)(w.offset)
    case n @ Not(body)             => Not(f(body))(n.offset)
    case a @ Absent(body)          => Absent(f(body))(a.offset)
    case NoneBetween(v, a, w)      => NoneBetween(f(v), a.map(f), f(w))
    case Without(body, a)          => Without(f(body), a.map(f))
    case NoneAfter(body, a, d)     => NoneAfter(f(body), a.map(f), d)
    case NoneBefore(a, d, body)    => NoneBefore(a.map(f), d, f(body))
    case Project(body, kept)       => Project(f(body), kept)
  }

  /** Can it match without any event? */
  def nullable: Boolean = this match {
    case _: Atom | _: Not => false
    case _: Absent        => false
    case Without(body, _) => body.nullable
    case n: NoneAfter     => n.body.nullable
    case n: NoneBefore    => n.body.nullable
    case Filter(body, c)  => body.nullable && c.holdsOfNothing
    case Or(parts)        => parts.exists(_.nullable)
    case r: Repeat        => r.least == Quantity.Number(0) || r.body.nullable
    case other            => other.children.forall(_.nullable)
  }

  /** The variables it may bind. */
  def variables: Set[String] = this match {
    case a: Atom             => Set(a.variable)
    case As(body, x)         => body.variables + x.value
    case Not(_) | Absent(_)  => Set.empty
    case Project(body, kept) => body.variables & kept
    case _                   => children.iterator.flatMap(_.variables).toSet
  }

  /** The variables that every match binds. */
  def certain: Set[String] = if (nullable) Set.empty
  else
    this match {
      case a: Atom             => Set(a.variable)
      case As(body, x)         => if (body.certain.isEmpty) Set.empty else body.certain + x.value
      case Not(_) | Absent(_)  => Set.empty
      case Project(body, kept) => body.certain & kept
      case Or(parts)           => parts.map(_.certain).reduce(_ & _)
      case _                   => children.iterator.flatMap(_.certain).toSet
    }
}

object Formula {

  /** Where the first event type of a formula stands. */
  def offset(f: Formula): Int = f.subformulas.collectFirst { case a: Atom => a.offset }.getOrElse(0)

  /** `R`, or `S>R` for one stream's R. The name of its variable is what was written. */
  final case class Atom(stream: Option[String], eventType: String)(val offset: Int) extends Formula {
    def variable: String = stream.fold(eventType)(_ + ">" + eventType)
  }
  final case class As(body: Formula, variable: Name) extends Formula
  final case class Filter(body: Formula, condition: Condition) extends Formula
  final case class Or(parts: Vector[Formula]) extends Formula

  /** `φ PART-BY [X1.a1, …]`: all these attributes of all these events are equal. */
  final case class PartBy(body: Formula, keys: Vector[PartKey])(val offset: Int) extends Formula

  /** `φ ALL ψ`: both, in any order. */
  final case class All(parts: Vector[Formula]) extends Formula

  /** `φ ; ψ`: anything may lie in between. */
  final case class Sequence(parts: Vector[Formula]) extends Formula

  /** `φ : ψ`: ψ starts right after φ ends. */
  final case class Contiguous(parts: Vector[Formula]) extends Formula

  /** `φ+` and `φ:+`. */
  final case class Iterate(body: Formula, contiguous: Boolean) extends Formula

  /** `φ{n,m}` and `φ:{n,m}`: n to m rounds, and without `most` n or more. `φ?` is `φ{0,1}`, and `φ*` is `φ{0,}`. */
  final case class Repeat(body: Formula, least: Quantity, most: Option[Quantity], contiguous: Boolean)(val offset: Int)
      extends Formula

  /** `(φ WITHIN d)`: the ends of each match of φ are so near to each other. */
  final case class Within(body: Formula, window: Window)(val offset: Int) extends Formula

  /** `NOT(α)`: one event that α does not match. */
  final case class Not(body: Formula)(val offset: Int) extends Formula

  /** The α of `NO α` and `WITHOUT α`: what an event must not be. It binds nothing, and its FILTER may compare the event
    * with variables that are bound before.
    */
  final case class Absent(body: Formula)(val offset: Int) extends Formula {
    def map(f: Formula => Formula): Absent = Absent(f(body))(offset)
  }

  /** `φ ; NO α ; ψ`: no event between the two is an α. */
  final case class NoneBetween(before: Formula, absent: Absent, after: Formula) extends Formula

  /** `φ WITHOUT α`: no event that a match of φ passes over is an α. */
  final case class Without(body: Formula, absent: Absent) extends Formula

  /** `φ ; NO α FOR d`: no α comes in the `length` after φ, or, without FOR, until the window is over. */
  final case class NoneAfter(body: Formula, absent: Absent, length: Option[Window]) extends Formula

  /** `NO α FOR d ; φ`: no α came in the `length` before φ. */
  final case class NoneBefore(absent: Absent, length: Window, body: Formula) extends Formula

  /** `π_L(φ)` of CORE: keeps the variables of L only. It has no syntax of its own; SELECT is a projection of the whole.
    */
  final case class Project(body: Formula, kept: Set[String]) extends Formula
}

/** `X.a` of PART-BY, or `a` for the attribute of every marked event. */
final case class PartKey(variable: Option[Name], attribute: String)
