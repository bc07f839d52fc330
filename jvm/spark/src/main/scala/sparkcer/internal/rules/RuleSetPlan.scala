package sparkcer.internal.rules

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.sql.types.{DataType, StructType}

import sparkcer.engine.ceql.{Parameters, Parser, Quantity}
import sparkcer.engine.evaluate.{Digest, Program}
import sparkcer.internal.bind.{BoundComparisons, Plan}
import sparkcer.internal.output.{MatchSchema, MatchWriter, Recognizer, View}

/** A set of rules over one stream of events, as it is sent to tasks.
  *
  * @param groups
  *   how many different lists of PARTITION BY columns there are
  * @param event
  *   the columns that are kept of an event: those that any rule keeps
  * @param time
  *   the type of the time column
  * @param zone
  *   of the session, for the text of timestamps in keys
  * @param lateRows
  *   whether late events are rows of the result
  */
final case class RuleSetPlan(
    rules: Vector[RulePlan],
    groups: Int,
    event: StructType,
    time: DataType,
    zone: String,
    lateRows: Boolean
) {

  /** For each group its rules, by number. */
  def rulesOf(group: Int): Vector[Int] = rules.indices.filter(rules(_).group == group).toVector
}

/** One rule of a set.
  *
  * @param plan
  *   as it is for the rule alone: so its matches have the same `match_id` in a set
  * @param group
  *   the rules with the same PARTITION BY columns
  * @param conditions
  *   for each condition of its program, its number among those of the set
  * @param reads
  *   which events of its keys it reads
  * @param own
  *   the columns that it keeps itself, by their places among those of the set
  * @param comparisons
  *   over the columns that the set keeps
  * @param isUnlimited
  *   whether it does not say how many matches it returns at a time
  * @param until
  *   if its matches wait for a deadline, in a batch: which of the times it is up to which its events are complete
  * @param added
  *   the columns that events have got since its saved state began. They are shown, and are no part of a `match_id`
  */
final case class RulePlan(
    id: String,
    plan: Plan,
    group: Int,
    conditions: Vector[Int],
    reads: RulePlan.Reads,
    own: Vector[Int],
    comparisons: BoundComparisons,
    isUnlimited: Boolean,
    until: Option[Int],
    output: RuleOutput,
    added: Set[String] = Set.empty
) {

  /** Of a match of the rule alone, without the columns that were added. */
  private lazy val schema: MatchSchema =
    if (added.isEmpty) plan.schema
    else plan.schema.copy(event = StructType(plan.schema.event.filterNot(f => added(f.name))))

  lazy val fingerprint: Long = plan.copy(schema = schema).fingerprint

  /** Two rules with the same identity read each other's saved state. */
  lazy val identity: String = {
    val text = Vector(
      plan.query.asked,
      schema.event.toDDL,
      plan.schema.key.map(f => s"${f.name} ${f.dataType.sql}").mkString(", "),
      plan.window.clock.dataType.sql,
      plan.stream.state.types,
      plan.stream.state.digest
    ).mkString("\n")
    s"$id ${Digest.hash(text)}"
  }

  /** The rule as it was when the set kept only these columns of events. The same rule each time that it is asked for,
    * so that it is compiled once.
    *
    * @param now
    *   the columns that the set keeps now
    */
  def since(before: Set[String], now: StructType): RulePlan = {
    val names = own.zip(plan.schema.event).collect { case (i, f) if !before(now(i).name) => f.name }.toSet
    if (names == added) this else earlier.computeIfAbsent(names, _ => copy(added = names))
  }
  @transient private lazy val earlier = new ConcurrentHashMap[Set[String], RulePlan]

  /** Its query. Without a LIMIT of its own it has the order of one, because not all of its matches may be returned.
    * Compiled once on each executor, for all buckets.
    */
  @transient lazy val program: Program =
    if (!isUnlimited) plan.query.program
    else {
      val query = Parameters.bind(Parser.parse(plan.query.text), plan.query.quantities)
      Program.compile(query.copy(limit = Some(Quantity.Number(Long.MaxValue)))(query.text))
    }

  /** The columns that it keeps itself. */
  private def view(event: StructType): View = View.of(own, event)

  /** Those that its `match_id`s are made of. */
  def identified(event: StructType): View =
    View.of(own.zip(plan.schema.event).collect { case (i, f) if !added(f.name) => i }, event)

  /** @param rows
    *   shared by all rules that are evaluated one after the other
    */
  def recognizer(set: RuleSetPlan, rows: RuleRows): Recognizer = {
    val compiled = program
    val row =
      if (output.isEmpty) null
      else new MatchWriter(plan.schema, compiled, plan.clock, plan.fingerprint, Set.empty, view(set.event))
    val writer = new RuleWriter(this, compiled, set, identified(set.event), row, rows)
    val most = if (isUnlimited) math.min(RulePlan.MostMatches, plan.maxMatchesPerEvent) else Long.MaxValue
    new Recognizer(plan, compiled, comparisons, set.event.length, writer, Some(most))
  }
}

object RulePlan {

  /** Which events a rule reads. */
  sealed trait Reads {

    /** One that all events meet which it reads, though it is none of its own conditions. */
    def condition: Option[Int] = None
  }

  /** Those that meet one of its conditions. */
  case object Meeting extends Reads

  /** All events of its keys, because it depends on neighbours. */
  case object All extends Reads

  /** The same, of those that are from its inputs, which a condition tells. */
  final case class AllOfInputs(number: Int) extends Reads {
    override def condition: Option[Int] = Some(number)
  }

  /** How many matches of an event a rule without LIMIT returns: one bad rule must not stop the others. */
  val MostMatches = 1000L
}
