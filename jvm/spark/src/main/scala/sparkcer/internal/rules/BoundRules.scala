package sparkcer.internal.rules

import java.util.UUID

import scala.collection.mutable

import org.slf4j.LoggerFactory

import org.apache.spark.sql.{AnalysisException, DataFrame}
import org.apache.spark.sql.catalyst.expressions.{And, Attribute, AttributeMap, AttributeReference, AttributeSet}
import org.apache.spark.sql.catalyst.expressions.{BindReferences, Expression}
import org.apache.spark.sql.cerbridge.{CerException, Columns, Plans}
import org.apache.spark.sql.types.{StructField, StructType}

import sparkcer.engine.ceql.{AbsenceAfter, CeqlException, Consume, Parser, Query}
import sparkcer.engine.error.Errors
import sparkcer.internal.bind.{Binding, Options, Plan, PlannedStream, Watermark}
import sparkcer.internal.prepare.{AsLong, Prepare}

/** The rules of a set, each bound to the columns of its events as if it were alone, and what they share: conditions,
  * PARTITION BY columns and the columns that are kept.
  *
  * @param skipInvalid
  *   whether a rule that is wrong is left out with a warning, instead of being an error
  */
final private[sparkcer] class BoundRules(
    inputs: RuleInputs,
    all: Vector[Rule],
    options: Options,
    skipInvalid: Boolean
) {
  import BoundRules._

  private val df = inputs.all

  /** The conditions of rules that were resolved at once. */
  private val resolved = mutable.HashMap.empty[Binding, Vector[Expression]]

  private val ones: Vector[One] = {
    all.groupBy(_.id).collectFirst { case (id, same) if same.length > 1 => id }.foreach { id =>
      throw new CerException("CER_RULES.TWICE", "rule" -> id)
    }
    val wrong = new WrongRules
    val bound = wrong.of(all)(_.id)(bind)
    checkTogether(bound.map(_._2))
    val right = wrong.of(bound)(_._1.id) { case (rule, b, own) =>
      b.conditions: Unit // which fails here if one is wrong
      mustNotAskForNow(b, resolved.getOrElse(b, resolvedAlone(b)))
      new One(rule, b, Plan.of(b, rule.query, own))
    }
    if (wrong.nonEmpty) {
      if (skipInvalid) log.warn(Errors.print("CER_RULES.SKIPPED", wrong.parameters(all.length): _*))
      else throw new CerException("CER_RULES.INVALID", wrong.parameters(all.length): _*)
    }
    if (right.isEmpty) throw new CerException("CER_RULES.NONE")
    if (options.until.isDefined && right.forall(_.binding.waiting.lengths.isEmpty))
      throw new CerException("CER_UNTIL.NOTHING_WAITS")
    right.map(_.binding.time.name).distinct match {
      case one +: other +: _ => throw new CerException("CER_RULES.TIMES", "first" -> one, "second" -> other)
      case _                 => right
    }
  }

  private def bind(rule: Rule): (Rule, Binding, Options) = {
    val query = Parser.parse(rule.query)
    val events = inputs.of(query)
    // Only a rule that waits asks up to which time the events are complete.
    val waits = AbsenceAfter.of(query.where).nonEmpty
    val own = options.copy(params = rule.params, until = options.until.filter(_ => waits))
    val b = Binding.of(events, rule.query, own)
    BoundRules.mustFit(b)
    (rule, b, own)
  }

  /** Lets Spark resolve the conditions of all rules at once, which takes a fraction of the time that it takes one by
    * one. If any is wrong, each is checked by itself, and the error is found with its place.
    */
  private def checkTogether(bound: Vector[Binding]): Unit = bound.groupBy(_.df).foreach { case (of, some) =>
    try
      Columns.plainlyResolved(of, some.flatMap(_.unchecked.map(_._2))).foreach { all =>
        val found = all.iterator
        some.foreach { b =>
          val own = b.unchecked.map(_ => found.next())
          if (b.accept(own)) resolved(b) = own
        }
      }
    // Each rule is then checked by itself, so that the error names the rule.
    catch { case _: AnalysisException | _: CeqlException => () }
  }

  private val first = ones.head.binding

  /** The time column among all events, on which there is the watermark of a stream. */
  private val time: StructField = inputs.schema(inputs.place(first.time.name, inputs.schema))

  private val watermark: Option[Watermark] = Plan.watermark(df, time)

  /** The columns that are kept of an event. Any of them can be NULL: an event may have been saved before it was kept.
    */
  private val event: StructType = {
    val kept = ones.flatMap(_.binding.kept.fieldNames).distinct.map(inputs.place(_, inputs.schema)).toSet
    Plans.nullable(StructType(inputs.schema.indices.filter(kept).map(inputs.schema(_))))
  }

  /** What Spark has to evaluate for all rules alike, with all names resolved. */
  private val (shared, child) = {
    val order = first.order.map(f => Prepare.order(Columns.named(df, f.name), f))
    val columns = Vector(AsLong.of(Columns.named(df, time.name))) ++ order ++
      event.map(f => Columns.named(df, f.name)) ++ ones.flatMap(one => inputs.isOf(one.query))
    Columns.resolved(df, columns)
  }

  /** For each rule its PARTITION BY columns and conditions, over the columns of all events. */
  private val own: Map[One, (Seq[Expression], Seq[Expression])] =
    ones.groupBy(_.binding.df).flatMap { case (of, some) =>
      val found = inputs.resolved(of, some.flatMap(o => o.binding.keyColumns ++ o.binding.conditions)).iterator
      some.map { o =>
        val keys = o.binding.keyColumns.map(_ => found.next())
        o -> (keys, o.binding.conditions.map(_ => found.next()))
      }
    }

  /** The columns of PARTITION BY, however they are written. */
  private def keyList(one: One): Seq[Expression] = own(one)._1.map(_.canonicalized)
  private val keyLists: Vector[Seq[Expression]] = ones.map(keyList).distinct

  /** The times up to which the events of rules are complete: one for all rules that see the same events. */
  private val untils: Vector[(DataFrame, Expression)] =
    ones.flatMap(o => o.binding.waiting.until.map(o.binding.df -> _)).distinctBy(_._1)

  /** The events before the shuffle, and the rules that recognize them after it. */
  def planned: (RuleEvents, RuleSetPlan) = {
    val all = shared.iterator
    val at = all.next()
    val order = first.order.map(_ => all.next())
    val kept = event.map(_ => all.next())
    val keys = keyLists.map(list => own(ones.find(keyList(_) == list).get)._1)
    // Equal conditions are evaluated once, whichever rules have them.
    val numbers = mutable.LinkedHashMap.empty[Expression, (Int, Expression)]
    def number(e: Expression): Int = numbers.getOrElseUpdate(e.canonicalized, (numbers.size, e))._1
    val rules = ones.map { one =>
      val b = one.binding
      val isOf = inputs.isOf(one.query).map(_ => all.next())
      val needsAll = !b.program.droppable
      RulePlan(
        one.rule.id,
        one.plan.copy(stream = one.plan.stream.copy(watermark = watermark)),
        keyLists.indexOf(keyList(one)),
        own(one)._2.map(c => number(isOf.fold(c)(And(_, c)))).toVector,
        if (!needsAll) RulePlan.Meeting
        else isOf.fold[RulePlan.Reads](RulePlan.All)(e => RulePlan.AllOfInputs(number(e))),
        b.kept.fieldNames.toVector.map(inputs.place(_, event)),
        b.comparisonsOver(event),
        isUnlimited = b.program.query.limit.isEmpty && !b.program.counts,
        b.waiting.until.map(_ => untils.indexWhere(_._1 eq b.df)),
        RuleOutput.of(b, one.plan)
      )
    }
    val zone = df.sparkSession.conf.get("spark.sql.session.timeZone")
    val set = RuleSetPlan(rules, keyLists.length, event, time.dataType, zone, options.lateRows)
    val rulesOf = Array.fill(numbers.size)(Vector.empty[String])
    for (r <- rules; c <- r.conditions.distinct) rulesOf(c) :+= r.id
    val groupsOf = Array.fill(numbers.size)(Array.empty[Int])
    for (r <- rules; c <- r.conditions ++ r.reads.condition)
      if (!groupsOf(c).contains(r.group)) groupsOf(c) = groupsOf(c) :+ r.group
    val needAll = keyLists.indices.map(g => rules.exists(r => r.group == g && r.reads == RulePlan.All)).toArray
    val (table, tested) = bound(numbers.values.map(_._2).toVector)
    val output = RuleEvents.output(df.isStreaming)
    val groups = new RuleGroups(groupsOf, needAll, rulesOf.map(FailedRule.names))
    (RuleEvents(table, tested, groups, at, order, keys, kept, output, child).pruned, set)
  }

  /** The rows of a batch. */
  def recognized(events: RuleEvents, set: RuleSetPlan): RuleRecognize = {
    val columns = RuleWriter.schema(set).map(f => AttributeReference(f.name, f.dataType, f.nullable)())
    RuleRecognize(set, untils.map(_._2), columns, events)
  }

  /** Conditions in the form that Spark evaluates, and the columns that they read, to which they are bound. */
  private def bound(conditions: Vector[Expression]): (ConditionTable, Seq[Attribute]) = {
    val tested = child.output.filter(AttributeSet(conditions.flatMap(_.references)).contains)
    val row = Plans.empty(df, StructType(tested.zipWithIndex.map { case (a, i) => StructField(s"_$i", a.dataType) }))
    val columns = Plans.planOf(row).output
    val places = AttributeMap(tested.zip(columns))
    val over = conditions.map(_.transform { case a: Attribute => places(a) })
    (ConditionTable(Columns.evaluable(row, over).map(BindReferences.bindReference(_, columns)).toVector), tested)
  }

  /** What the stream of the set needs: as that of its rules, under a name of its own. */
  def stream: PlannedStream = {
    val one = ones.head.plan.stream
    one.copy(
      watermark = watermark,
      operator = UUID.randomUUID().toString,
      metrics = f"${RuleChanges.Metrics}${df.semanticHash()}%08x",
      state = one.state.copy(types = RuleInputs.types(options.eventType))
    )
  }

  /** How many rules are wrong and left out. */
  def leftOut: Int = all.length - ones.length

  /** The rules, bound, for warnings. */
  def plans: Vector[(String, Binding, Plan)] = ones.map(one => (one.rule.id, one.binding, one.plan))
}

private[sparkcer] object BoundRules {
  private val log = LoggerFactory.getLogger("sparkcer")

  /** Fails if a query cannot be a rule of a set. */
  def mustFit(b: Binding): Unit = {
    if (b.program.query.consumeBy == Consume.Any) throw new CerException("CER_RULES.CONSUME_ANY")
    if (b.windowColumn != b.time)
      throw new CerException("CER_RULES.OTHER_WINDOW", "column" -> b.windowColumn.name, "time" -> b.time.name)
  }

  /** The conditions of a rule. */
  def resolvedAlone(b: Binding): Vector[Expression] =
    Columns.plainlyResolved(b.df, b.unchecked.map(_._2)).toVector.flatten

  /** Fails if a condition, a measure or HAVING depends on when it is evaluated. */
  def mustNotAskForNow(b: Binding, conditions: Vector[Expression]): Unit =
    if ((conditions ++ b.measures.bound.map(_._2) ++ b.measures.condition).exists(Columns.isOfNow))
      throw new CerException("CER_RULES.NOW")

  final private class One(val rule: Rule, val binding: Binding, val plan: Plan) {
    def query: Query = binding.program.query
  }
}
