package sparkcer.engine.testkit

import org.scalacheck.Shrink

import sparkcer.engine.ceql._
import sparkcer.engine.evaluate.Program

/** A query and a stream to run it on, printed in one line each when a property fails. */
final case class Case(query: Query, events: Vector[Event]) {

  /** The query compiled, or None: one with many tests on the variables of an iteration may be refused as too large, one
    * that was made simpler may match without any event or have such a part beside NO, and WITHOUT may compare with a
    * variable that comes too late.
    */
  lazy val program: Option[Program] =
    try Some(Program.compile(query))
    catch { case e: CeqlException if Case.Refused(e.condition) => None }

  /** The matches by definition, or None where they are too many to list. */
  lazy val expected: Option[Set[Match]] =
    try Some(Oracle.matches(query, events))
    catch { case _: Valuations.TooMany => None }

  override def toString: String = s"\n  query:  ${Printer.print(query)}\n  events: ${Event.show(events)}\n"
}

object Case {
  private val Refused = Set("CER_QUERY_TOO_LARGE", "CER_EMPTY_PATTERN", "CER_ABSENCE")

  implicit val shrinkCase: Shrink[Case] = Shrink.withLazyList(simpler)

  /** Fewer events first, then a simpler query: a part of the formula in place of the whole, a clause less, a test less.
    * What names a variable that is gone goes too, so that every step is a valid query.
    */
  def simpler(c: Case): LazyList[Case] = {
    val fewer = c.events.indices.to(LazyList).map(i => c.copy(events = c.events.patch(i, Nil, 1)))
    val plainer = for {
      i <- c.events.indices.to(LazyList)
      e = c.events(i)
      a <- (e.attributes.keySet - "t").to(LazyList)
    } yield c.copy(events = c.events.updated(i, e.copy(attributes = e.attributes - a)))
    fewer #::: Simpler.queries(c.query).map(q => c.copy(query = q)) #::: plainer
  }
}

/** Valid queries that are one step simpler. */
object Simpler {

  def queries(q: Query): LazyList[Query] = {
    val clauses = LazyList(
      q.copy(partitionBy = Vector.empty)(""),
      q.copy(within = None)(""),
      q.copy(consumeBy = Consume.None)(""),
      q.copy(limit = None)(""),
      q.copy(select = q.select.copy(strategy = Strategy.All))(""),
      q.copy(select = q.select.copy(distinct = false))(""),
      q.copy(select = q.select.copy(list = SelectList.All))("")
    ).filter(_ != q)
    val lists = q.select.list match {
      case SelectList.Variables(items) if items.length > 1 =>
        items.indices
          .to(LazyList)
          .map(i => q.copy(select = q.select.copy(list = SelectList.Variables(items.patch(i, Nil, 1))))(""))
      case _ => LazyList.empty
    }
    (clauses #::: lists #::: formulas(q.where).map(f => q.copy(where = f)(""))).map(valid)
  }

  /** The query without what names variables that its formula does not bind. */
  def valid(q: Query): Query = {
    val where = bindable(q.where, Set.empty)
    val list = q.select.list match {
      case SelectList.Variables(items) =>
        val left = items.filter(i => where.variables(i.variable.value))
        if (left.isEmpty) SelectList.All else SelectList.Variables(left)
      case other => other
    }
    val cleaned = q.copy(select = q.select.copy(list = list), where = where)("")
    cleaned.copy()(Printer.print(cleaned))
  }

  private def formulas(f: Formula): LazyList[Formula] = {
    val inside = f.children.filterNot(_.isInstanceOf[Formula.Absent]).to(LazyList)
    val below: LazyList[Formula] = f match {
      case _: Formula.Atom                => LazyList.empty
      case Formula.NoneBefore(a, d, body) =>
        formulas(body).map(Formula.NoneBefore(a, d, _)) #::: simpler(a).map(Formula.NoneBefore(_, d, body))
      case Formula.NoneAfter(body, a, d) =>
        formulas(body).map(Formula.NoneAfter(_, a, d)) #::: simpler(a).map(Formula.NoneAfter(body, _, d))
      case a @ Formula.Absent(body) => formulas(body).map(Formula.Absent(_)(a.offset))
      case Formula.Without(body, a) =>
        formulas(body).map(Formula.Without(_, a)) #::: simpler(a).map(Formula.Without(body, _))
      case Formula.NoneBetween(v, a, w) =>
        formulas(v).map(Formula.NoneBetween(_, a, w)) #::: formulas(w).map(Formula.NoneBetween(v, a, _)) #:::
          simpler(a).map(Formula.NoneBetween(v, _, w))
      case n @ Formula.Not(body)          => formulas(body).map(Formula.Not(_)(n.offset))
      case Formula.As(body, x)            => formulas(body).map(Formula.As(_, x))
      case Formula.Project(body, kept)    => formulas(body).map(Formula.Project(_, kept))
      case Formula.Iterate(body, c)       => formulas(body).map(Formula.Iterate(_, c))
      case r: Formula.Repeat              => formulas(r.body).map(f => r.copy(body = f)(r.offset))
      case w @ Formula.Within(body, size) => formulas(body).map(Formula.Within(_, size)(w.offset))
      case Formula.Filter(body, c)        =>
        formulas(body).map(Formula.Filter(_, c)) #::: conditions(c).map(Formula.Filter(body, _))
      case f @ Formula.PartBy(body, keys) =>
        formulas(body).map(Formula.PartBy(_, keys)(f.offset)) #:::
          (if (keys.length > 1) LazyList(Formula.PartBy(body, keys.map(_.copy(variable = None)).take(1))(f.offset))
           else LazyList.empty)
      case Formula.All(parts)        => fewer(parts)(formulas).map(Formula.All)
      case Formula.Or(parts)         => fewer(parts)(formulas).map(Formula.Or)
      case Formula.Sequence(parts)   => fewer(parts)(formulas).map(Formula.Sequence)
      case Formula.Contiguous(parts) => fewer(parts)(formulas).map(Formula.Contiguous)
    }
    inside #::: below
  }

  private def simpler(a: Formula.Absent): LazyList[Formula.Absent] =
    (a.body.children.to(LazyList) #::: formulas(a.body)).map(Formula.Absent(_)(a.offset))

  private def conditions(c: Condition): LazyList[Condition] = c match {
    case Condition.And(parts) => parts.to(LazyList) #::: fewer(parts)(conditions).map(Condition.And)
    case Condition.Or(parts)  => parts.to(LazyList) #::: fewer(parts)(conditions).map(Condition.Or)
    case _                    => LazyList.empty
  }

  /** One part less, of two at least, or one part simpler. */
  private def fewer[A](parts: Vector[A])(simpler: A => LazyList[A]): LazyList[Vector[A]] = {
    val indices = parts.indices.to(LazyList)
    val less = if (parts.length > 2) indices.map(i => parts.patch(i, Nil, 1)) else LazyList.empty
    less #::: indices.flatMap(i => simpler(parts(i)).map(parts.updated(i, _)))
  }

  /** @param before the variables that an α may name beside its own */
  private def bindable(f: Formula, before: Set[String]): Formula = f match {
    case Formula.Filter(body, c) =>
      val below = bindable(body, before)
      bindable(c, below.variables ++ before).fold(below)(Formula.Filter(below, _))
    case Formula.NoneBetween(v, a, w) =>
      val first = bindable(v, before)
      Formula.NoneBetween(first, a.map(bindable(_, first.variables)), bindable(w, before))
    case Formula.NoneAfter(body, a, d) =>
      val below = bindable(body, before)
      Formula.NoneAfter(below, a.map(bindable(_, below.variables)), d)
    case Formula.NoneBefore(a, d, body) =>
      Formula.NoneBefore(a.map(bindable(_, Set.empty)), d, bindable(body, before))
    case Formula.Without(body, a) =>
      val below = bindable(body, before)
      Formula.Without(below, a.map(bindable(_, below.variables)))
    case p @ Formula.PartBy(body, keys) =>
      val below = bindable(body, before)
      if (keys.forall(_.variable.isEmpty) || Generators.covering(below) == keys.flatMap(_.variable.map(_.value)).toSet)
        Formula.PartBy(below, keys)(p.offset)
      else Formula.PartBy(below, Vector(keys.head.copy(variable = None)))(p.offset)
    case other => other.mapChildren(bindable(_, before))
  }

  private def bindable(c: Condition, bound: Set[String]): Option[Condition] = c match {
    case Condition.And(parts) => several(parts.flatMap(bindable(_, bound)), Condition.And)
    case Condition.Or(parts)  => several(parts.flatMap(bindable(_, bound)), Condition.Or)
    case leaf                 => if (Condition.variables(leaf).forall(x => bound(Ends.variable(x)))) Some(c) else None
  }

  private def several(parts: Vector[Condition], make: Vector[Condition] => Condition): Option[Condition] =
    if (parts.length > 1) Some(make(parts)) else parts.headOption
}
