package sparkcer.engine.evaluate

import sparkcer.engine.automaton.{Cea, Compiler, Construction, EventCondition, Multiplicity}
import sparkcer.engine.ceql._
import sparkcer.engine.compare.{Access, AccessPlan, Machine, Numbering}

/** A compiled query: the conditions on events, the automaton, and the columns of the output. It is immutable and shared
  * by all evaluators.
  *
  * @param columns
  *   the selected variables
  * @param shown
  *   what the output has of them, in order
  */
final class Program private (
    val query: Query,
    val cea: Cea,
    val columns: Vector[Program.Column],
    val shown: Vector[Program.Shown]
) {

  val strategy: Strategy = query.select.strategy
  val counts: Boolean = query.select.list == SelectList.Count

  /** DISTINCT only matters if matches can have the same events and different starts. */
  val distinct: Boolean = query.select.distinct && !cea.startsMarked

  /** How many matches of one event are shown, if there is a LIMIT. */
  val limit: Option[Long] = query.limit.collect { case Quantity.Number(n) => n.min(Long.MaxValue).toLong }

  def conditions: Seq[EventCondition] = cea.conditions

  /** For how long matches wait after their last event, if the query ends with `NO α FOR d`: several lengths where the
    * sides of an OR end in different ways.
    */
  val waits: Vector[Window] = cea.endings.iterator.map(_.length).distinct.toVector

  /** How long before a match no α may have come, for each `NO α FOR d` at the beginning of the query. */
  val looksBack: Vector[Window] = cea.absentBefore.iterator.map(_.length).toVector

  /** Does a window count events? */
  def countsEvents: Boolean = query.within.exists(_.isInstanceOf[Window.Events])

  /** May an event that meets no condition be dropped before it reaches an evaluator? Not if the query asks for
    * neighbours or counts events.
    */
  val droppable: Boolean = !countsEvents && strategy != Strategy.Strict && !query.where.subformulas.exists {
    case _: Formula.Contiguous          => true
    case Formula.Iterate(_, contiguous) => contiguous
    case r: Formula.Repeat              => r.contiguous
    case _                              => false
  }

  /** The terms and expressions of comparisons, see [[sparkcer.engine.compare.EventValues]]. */
  private val numbering = new Numbering(cea.comparisons)

  /** The comparisons of the query, each once. */
  def comparisons: Vector[Comparison] = numbering.distinct

  /** The terms, each with its comparison, and the expressions. `EventValues` is asked for them by number. */
  def terms: Vector[(Comparison, Term)] = numbering.terms
  def expressions: Vector[Comparison.Expression] = numbering.expressions

  /** How events find the partial matches of each comparison, for EXPLAIN. */
  def access: Vector[(Comparison, Access)] = {
    val plan = new AccessPlan(newMachine())
    cea.comparisons.indices.map(i => (cea.comparisons(i), plan(i))).distinct.toVector
  }

  private[evaluate] def newMachine(): Machine = new Machine(cea, strategy, distinct, limit.isDefined, numbering)

  /** Can matches be counted as runs of the automaton, without listing them? */
  private[engine] lazy val countsRuns: Boolean =
    counts && !selects && !distinct && comparisons.isEmpty && !cea.endsApart

  private[engine] val construction: Construction = new Construction(cea, strategy)

  /** Programs with the same digest read each other's saved state. */
  def digest: String = Digest(this)

  /** Do the numbers in saved state of format 1, which has no digest, mean the same for this query as now? This must be
    * updated whenever queries are compiled to another automaton.
    */
  def asFirst: Boolean = query.where.subformulas.forall {
    case Formula.Filter(body, condition) => Comparisons.asFirst(condition, body)
    case _                               => true
  }

  /** Must matches of different starts be compared when an event closes them? */
  private[engine] val selects: Boolean = strategy match {
    case Strategy.Next | Strategy.Last  => true
    case Strategy.Max                   => !cea.fixedLength
    case Strategy.All | Strategy.Strict => false
  }
}

object Program {

  /** One selected variable.
    *
    * @param attributes
    *   the columns that are shown of its events, None for all
    */
  final case class Column(variable: String, multiplicity: Multiplicity, attributes: Option[Vector[Name]])

  /** A column of the output, or, of a variable that is shown flat, several. */
  sealed trait Shown

  /** @param attributes
    *   the columns to show, None for all
    */
  final case class ShownVariable(column: Column, name: String, attributes: Option[Vector[Name]], flat: Boolean)
      extends Shown

  final case class ShownMeasure(measure: SelectList.Measure) extends Shown

  /** @param quantities
    *   the values of the parameters in LIMIT and WITHIN
    */
  def apply(text: String, quantities: Map[String, BigDecimal] = Map.empty): Program =
    compile(Parameters.bind(Parser.parse(text), quantities))

  def compile(written: Query): Program = {
    val query = AbsenceBefore.spelledOut(AbsenceAfter.spelledOut(written))
    val items = query.select.items
    checkVariables(query, items.collect { case i: SelectList.Item => i.variable })
    checkStreams(query)
    // They decide how large the automaton is. Those of WITHIN and LIMIT do not matter here.
    Parameters.ofPattern(query).headOption.foreach { p =>
      throw new CeqlException(query.text, p.offset, "CER_PARAMETER.MISSING", "name" -> p.value)
    }
    if (query.where.nullable)
      throw new CeqlException(query.text, Formula.offset(query.where), "CER_EMPTY_PATTERN")
    val selected = SelectedVariables(query)
    val cea = Compiler.compile(query.where, selected.toSet, query.text)
    if (query.select.list == SelectList.Count) new Program(query, cea, Vector.empty, Vector.empty)
    else {
      val starred = SelectedVariables.starred(query.where)
      def attributes(variable: String): Option[Vector[Name]] = {
        val whole = items.exists {
          case SelectList.Star          => starred.contains(variable)
          case SelectList.Item(x, a, _) => x.value == variable && a.isEmpty
          case _: SelectList.Measure    => false
        }
        if (whole) None
        else Some(items.collect { case SelectList.Item(x, Some(a), _) if x.value == variable => a }.flatten)
      }
      val columns = selected.map(x => Column(x, cea.multiplicity(x), attributes(x)))
      def shown(x: String, name: String, attributes: Option[Vector[Name]]) = {
        val column = columns.find(_.variable == x).get
        ShownVariable(column, name, attributes, isFlat(query) && column.multiplicity.atMostOne)
      }
      val output = items.flatMap {
        case SelectList.Star             => starred.map(x => shown(x, x, None))
        case SelectList.Item(x, a, as)   => Vector(shown(x.value, as.getOrElse(x).value, a))
        case measure: SelectList.Measure => Vector(ShownMeasure(measure))
      }
      new Program(query, cea, columns, output)
    }
  }

  private def isFlat(query: Query) = query.select.list match {
    case SelectList.Columns(_, flat) => flat
    case _                           => false
  }

  private def checkVariables(query: Query, listed: Vector[Name]): Unit = {
    val bound = query.where.variables
    listed.find(x => !bound(x.value)).foreach { x =>
      val names = bound.toVector.sorted
      if (query.ofEveryMatch.exists(_.equalsIgnoreCase(x.value)))
        throw new CeqlException(
          query.text,
          x.offset,
          "CER_UNKNOWN_VARIABLE.SELECT_COLUMN",
          "name" -> x.value,
          "example" -> s"my_${x.value}"
        )
      throw new CeqlException(
        query.text,
        x.offset,
        "CER_UNKNOWN_VARIABLE.SELECT",
        "name" -> x.value,
        "variables" -> CeqlException.list(names),
        "suggestion" -> CeqlException.suggestion(x.value, names)
      )
    }
  }

  private def checkStreams(query: Query): Unit = {
    val names = query.from.map(_.value)
    query.where.subformulas.foreach {
      case a @ Formula.Atom(Some(stream), _) if !names.contains(stream) =>
        throw new CeqlException(
          query.text,
          a.offset,
          "CER_UNKNOWN_STREAM.NOT_IN_FROM",
          "name" -> stream,
          "names" -> names.mkString(", "),
          "suggestion" -> CeqlException.suggestion(stream, names)
        )
      case _ => ()
    }
  }
}
