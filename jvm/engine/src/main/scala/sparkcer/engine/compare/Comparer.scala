package sparkcer.engine.compare

import sparkcer.engine.ceql.{Comparison, Operator}
import sparkcer.engine.compare.Content.{Spoilt, ValueSet}
import sparkcer.engine.state.Bytes

/** Evaluates one comparison, event by event. Its registers, from number `first` on, keep what later events may be
  * compared with.
  *
  * A comparison must hold for every choice of events, and more events mean more choices. So a comparison that has
  * failed once has failed for good.
  */
sealed abstract private[engine] class Comparer {

  /** Compares the event, in these roles, with the registers, and says whether the comparison still holds. Then the
    * registers have the event too.
    */
  def holds(registers: Array[AnyRef], roles: Int, now: Now): Boolean

  /** The registers which, if they hold a value, must hold that of a term of the event for the comparison to hold: pairs
    * of register and term. Empty if the comparison is no equality.
    */
  def equalities(roles: Int): Seq[(Int, Int)] = Nil

  /** The values of a register with which the comparison holds, if there is one such register and the values are a range
    * or all but one.
    */
  def bound(roles: Int): Option[Bound] = None
}

/** `register operator term`. Values are ordered as `EventValues.compare` orders those of the term `order`; if that is
  * negative, any order will do.
  */
final private[engine] case class Bound(register: Int, operator: Operator, term: Int, order: Int)

private[engine] object Comparer {
  def apply(comparison: Comparison, first: Int, numbering: Numbering): Comparer = comparison match {
    case Comparison.Pair(_, Operator.Equal, _)    => new Equal(first, numbering.firstTerm(comparison))
    case Comparison.Pair(_, Operator.NotEqual, _) => new NotEqual(first, numbering.firstTerm(comparison))
    case Comparison.Pair(_, operator, _)          => new Ordered(first, numbering.firstTerm(comparison), operator)
    case _: Comparison.Span => new Ordered(first, numbering.firstTerm(comparison), Operator.LessEqual)
    case Comparison.Same(_) => new Same(first, numbering.firstTerm(comparison))
    case Comparison.Consecutive(_, operator, _) => new Consecutive(first, numbering.firstTerm(comparison), operator)
    case e: Comparison.Expression               => new Expression(first, numbering.expression(comparison), e)
  }

  val Left = 1
  val Right = 2
}

/** `left = right`: a register for each side has its one value. With two different values on one side the comparison
  * holds with no event of the other side.
  */
final private[engine] class Equal(first: Int, term: Int) extends Comparer {
  import Comparer.{Left, Right}

  def holds(registers: Array[AnyRef], roles: Int, now: Now): Boolean = {
    if ((roles & Right) != 0 && !agrees(registers(first), now.value(term + 1))) return false
    if ((roles & Left) != 0 && !agrees(registers(first + 1), now.value(term))) return false
    if (roles == (Left | Right) && (now.value(term) == null || now.value(term) != now.value(term + 1))) return false
    if ((roles & Left) != 0) registers(first) = add(registers(first), now.value(term))
    if ((roles & Right) != 0) registers(first + 1) = add(registers(first + 1), now.value(term + 1))
    true
  }

  private def agrees(content: AnyRef, v: Bytes): Boolean = content == null || v != null && content.equals(v)

  private def add(content: AnyRef, v: Bytes): AnyRef =
    if (v == null) Spoilt else if (content == null) v else if (content.equals(v)) content else Spoilt

  override def equalities(roles: Int): Seq[(Int, Int)] =
    (if ((roles & Right) != 0) Seq((first, term + 1)) else Nil) ++
      (if ((roles & Left) != 0) Seq((first + 1, term)) else Nil)
}

/** `left != right`: a register for each side has all its values. */
final private[engine] class NotEqual(first: Int, term: Int) extends Comparer {
  import Comparer.{Left, Right}

  def holds(registers: Array[AnyRef], roles: Int, now: Now): Boolean = {
    if ((roles & Right) != 0 && !differs(registers(first), now.value(term + 1))) return false
    if ((roles & Left) != 0 && !differs(registers(first + 1), now.value(term))) return false
    if (roles == (Left | Right) && !differs(now.value(term), now.value(term + 1))) return false
    if (roles == (Left | Right) && now.value(term) == null) return false
    if ((roles & Left) != 0) registers(first) = add(registers(first), now.value(term))
    if ((roles & Right) != 0) registers(first + 1) = add(registers(first + 1), now.value(term + 1))
    true
  }

  private def differs(content: AnyRef, v: Bytes): Boolean = content match {
    case null        => true
    case Spoilt      => false
    case s: ValueSet => v != null && !s.contains(v)
    case one         => v != null && !one.equals(v)
  }

  private def add(content: AnyRef, v: Bytes): AnyRef = content match {
    case _ if v == null => Spoilt
    case null           => v
    case s: ValueSet    => s.add(v)
    case one: Bytes     => if (one.equals(v)) one else new ValueSet(Array(one)).add(v)
    case spoilt         => spoilt
  }

  override def bound(roles: Int): Option[Bound] = roles match {
    case Right => Some(Bound(first, Operator.NotEqual, term + 1, -1))
    case Left  => Some(Bound(first + 1, Operator.NotEqual, term, -1))
    case _     => None
  }
}

/** `left < right` or `left <= right`: the registers have the largest left and the smallest right value. */
final private[engine] class Ordered(first: Int, term: Int, operator: Operator) extends Comparer {
  import Comparer.{Left, Right}

  def holds(registers: Array[AnyRef], roles: Int, now: Now): Boolean = {
    if ((roles & Right) != 0 && !below(registers(first), now.value(term + 1), now)) return false
    if ((roles & Left) != 0 && !above(now.value(term), registers(first + 1), now)) return false
    if (roles == (Left | Right) && (now.value(term) == null || !below(now.value(term), now.value(term + 1), now)))
      return false
    if ((roles & Left) != 0) registers(first) = decisive(registers(first), now.value(term), 1, now)
    if ((roles & Right) != 0) registers(first + 1) = decisive(registers(first + 1), now.value(term + 1), -1, now)
    true
  }

  private def below(left: AnyRef, right: Bytes, now: Now): Boolean = left match {
    case null     => true
    case l: Bytes => right != null && operator.holds(now.compare(term, l, right))
    case _        => false
  }

  private def above(left: Bytes, right: AnyRef, now: Now): Boolean = right match {
    case null     => true
    case r: Bytes => left != null && operator.holds(now.compare(term, left, r))
    case _        => false
  }

  private def decisive(content: AnyRef, v: Bytes, sign: Int, now: Now): AnyRef = content match {
    case _ if v == null => Spoilt
    case null           => v
    case old: Bytes     => if (Integer.signum(now.compare(term, v, old)) == sign) v else old
    case spoilt         => spoilt
  }

  override def bound(roles: Int): Option[Bound] = roles match {
    case Right => Some(Bound(first, operator, term + 1, term))
    case Left  => Some(Bound(first + 1, operator.mirrored, term, term))
    case _     => None
  }
}

/** PART-BY: the register has the one value. */
final private[engine] class Same(first: Int, term: Int) extends Comparer {
  def holds(registers: Array[AnyRef], roles: Int, now: Now): Boolean = {
    var left = roles
    while (left != 0) {
      val v = now.value(term + Integer.numberOfTrailingZeros(left))
      if (v == null || registers(first) != null && !registers(first).equals(v)) return false
      if (registers(first) == null) registers(first) = v
      left &= left - 1
    }
    true
  }

  override def equalities(roles: Int): Seq[(Int, Int)] =
    (0 until 32).filter(i => (roles >>> i & 1) != 0).map(i => (first, term + i))
}

/** A comparison with the preceding event: the register has the value of that event. */
final private[engine] class Consecutive(first: Int, term: Int, operator: Operator) extends Comparer {
  private val byBytes = operator == Operator.Equal || operator == Operator.NotEqual

  def holds(registers: Array[AnyRef], roles: Int, now: Now): Boolean = {
    val fits = registers(first) match {
      case null          => true
      case before: Bytes =>
        val v = now.value(term + 1)
        v != null && (if (byBytes) before.equals(v) == (operator == Operator.Equal)
                      else operator.holds(now.compare(term, before, v)))
      case _ => false
    }
    if (fits) registers(first) = { val v = now.value(term); if (v == null) Spoilt else v }
    fits
  }

  override def equalities(roles: Int): Seq[(Int, Int)] =
    if (operator == Operator.Equal) Seq((first, term + 1)) else Nil

  override def bound(roles: Int): Option[Bound] =
    if (operator == Operator.Equal) None else Some(Bound(first, operator, term + 1, if (byBytes) -1 else term))
}

/** Any other expression: the registers have all events of each variable. A new event evaluates the expression for every
  * choice of events that includes it, so its cost grows with the events of the match.
  */
final private[engine] class Expression(first: Int, number: Int, comparison: Comparison.Expression) extends Comparer {
  private val variables = comparison.variables.length
  private val arity = variables + (if (comparison.previous) 1 else 0)
  private val chosen = new Array[Int](arity)
  private val rows = new Array[Array[Byte]](arity)

  /** Without other variables PREV needs the last event only. */
  private val lastOnly = comparison.previous && variables == 1

  def holds(registers: Array[AnyRef], roles: Int, now: Now): Boolean = {
    val fits = every(registers, roles, now, 0, withNew = false)
    if (fits) (0 until variables).foreach { i =>
      if ((roles >>> i & 1) != 0) {
        val before = if (lastOnly) Array.empty[Int] else numbers(registers, i)
        registers(first + i) = new Content.Events(before :+ now.event)
      }
    }
    fits
  }

  private def numbers(registers: Array[AnyRef], i: Int): Array[Int] = registers(first + i) match {
    case e: Content.Events => e.numbers
    case _                 => Array.empty
  }

  private def every(registers: Array[AnyRef], roles: Int, now: Now, i: Int, withNew: Boolean): Boolean =
    if (i == variables) !withNew || now.holds(number, chosen, rows)
    else {
      val before = numbers(registers, i)
      val pairs = comparison.previous && i == 0
      def old = before.indices.drop(if (pairs) 1 else 0).forall { k =>
        chosen(i) = before(k)
        if (pairs) chosen(variables) = before(k - 1)
        every(registers, roles, now, i + 1, withNew)
      }
      def fresh = (roles >>> i & 1) == 0 || pairs && before.isEmpty || {
        chosen(i) = now.event
        if (pairs) chosen(variables) = before.last
        every(registers, roles, now, i + 1, withNew = true)
      }
      old && fresh
    }
}
