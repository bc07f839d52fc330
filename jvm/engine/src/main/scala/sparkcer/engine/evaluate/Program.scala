package sparkcer.engine.evaluate

import sparkcer.engine.automaton.{Cea, Compiler, Construction, EventCondition, Multiplicity}
import sparkcer.engine.ceql._
import sparkcer.engine.compare.{Access, AccessPlan, Machine, Numbering}

/** A compiled query: the conditions on events, the automaton, and the columns of the output. It is immutable and shared
  * by all evaluators.
  */
final class Program private (val query: Query, val cea: Cea, val columns: Vector[Program.Column]) {

  val strategy: Strategy = query.select.strategy
  val counts: Boolean = query.select.list == SelectList.Count

  /** DISTINCT only matters if matches can have the same events and different starts. */
  val distinct: Boolean = query.select.distinct && !cea.startsMarked

  /** How many matches of one event are shown, if there is a LIMIT. */
  val limit: Option[Long] = query.limit.collect { case Quantity.Number(n) => n.min(Long.MaxValue).toLong }

  def conditions: Seq[EventCondition] = cea.conditions

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
  private[engine] lazy val countsRuns: Boolean = counts && !selects && !distinct && comparisons.isEmpty

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

  /** One variable in the output.
    *
    * @param attributes
    *   the columns to show, None for all
    */
  final case class Column(variable: String, multiplicity: Multiplicity, attributes: Option[Vector[Name]])

  /** @param quantities
    *   the values of the parameters in LIMIT and WITHIN
    */
  def apply(text: String, quantities: Map[String, BigDecimal] = Map.empty): Program =
    compile(Parameters.bind(Parser.parse(text), quantities))

  def compile(query: Query): Program = {
    val bound = query.where.variables
    val items = query.select.list match {
      case SelectList.All             => starred(query.where).map(x => (x, None))
      case SelectList.Variables(list) =>
        list.map { i =>
          if (!bound(i.variable.value)) {
            val names = bound.toVector.sorted
            throw new CeqlException(
              query.text,
              i.variable.offset,
              "CER_UNKNOWN_VARIABLE.SELECT",
              "name" -> i.variable.value,
              "variables" -> CeqlException.list(names),
              "suggestion" -> CeqlException.suggestion(i.variable.value, names)
            )
          }
          (i.variable.value, i.attributes)
        }
      // COUNT(*) counts the matches of SELECT *.
      case SelectList.Count       => starred(query.where).map(x => (x, None))
      case SelectList.NoVariables => Vector.empty
    }
    checkStreams(query)
    // The numbers of the pattern decide how large the automaton is; those of WITHIN and LIMIT do not matter here.
    Parameters.quantities(query.copy(within = None, limit = None)(query.text)).headOption.foreach { p =>
      throw new CeqlException(query.text, p.offset, "CER_PARAMETER.MISSING", "name" -> p.value)
    }
    if (query.where.nullable)
      throw new CeqlException(query.text, Formula.offset(query.where), "CER_EMPTY_PATTERN")
    val cea = Compiler.compile(query.where, items.map(_._1).toSet, query.text)
    val columns = items.map { case (x, attributes) => Column(x, cea.multiplicity(x), attributes) }
    new Program(query, cea, if (query.select.list == SelectList.Count) Vector.empty else columns)
  }

  /** `*`: every AS variable, and every event type that occurs outside any AS, in order of appearance. */
  private def starred(f: Formula): Vector[String] = {
    def walk(f: Formula, inAs: Boolean): Vector[String] = f match {
      case a: Formula.Atom             => if (inAs) Vector.empty else Vector(a.variable)
      case Formula.As(body, x)         => x.value +: walk(body, inAs = true)
      case Formula.Not(_)              => Vector.empty
      case Formula.Project(body, kept) => walk(body, inAs).filter(kept)
      case other                       => other.children.flatMap(walk(_, inAs))
    }
    walk(f, inAs = false).distinct
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
