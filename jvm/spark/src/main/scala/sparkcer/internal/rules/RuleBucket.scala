package sparkcer.internal.rules

import java.nio.charset.StandardCharsets.UTF_8

import scala.collection.mutable
import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.expressions.{BoundReference, Literal, UnsafeRow}
import org.apache.spark.sql.types.{DataType, StructType}

import sparkcer.engine.state.{Frame, SharedArrays}
import sparkcer.internal.output.View
import sparkcer.internal.prepare.Event
import sparkcer.internal.stream.{Bucket, BucketOutput, Counts, LiveBucket, LogHead, PieceSizes, RuleTally}

/** The state of a set of rules in one bucket of a stream: a [[Bucket]] for each rule that has read an event, as if the
  * rule were alone. What rules share is the payload of an event, in memory and in the log.
  *
  * A piece of the log has a section for each rule that has changed, under the identity of the rule. So a set can change
  * from one run to the next: rules that stay find their sections, sections of rules that are gone are not read, and are
  * left out of the next full piece, and new rules begin empty. A rule whose events have got more columns goes on with
  * those that it began with, as far as its identity and its `match_id`s are concerned.
  */
final private[sparkcer] class RuleBucket(set: RuleSetPlan) extends LiveBucket[RuleEvent] {
  private val dispatch = new Dispatch(set)
  private val rows = new RuleRows(set)
  private val buckets = new Array[Bucket](set.rules.length)
  private val unsaved = mutable.LinkedHashSet.empty[Int]

  /** The rules of this bucket, some of which began before columns were added to the events. */
  private val plans = set.rules.toArray
  private lazy val numberOf: Map[String, Int] = set.rules.indices.map(r => set.rules(r).id -> r).toMap

  private val pieceSizes = new PieceSizes

  /** The bytes of events that several rules keep, beyond the first, as of the log. */
  private var repeated = 0L

  /** The rules whose saved state was not that of the rule now, and those that are gone; until they are told of. */
  private val begunAnew = mutable.LinkedHashSet.empty[String]
  private val gone = mutable.LinkedHashSet.empty[String]

  /** Does the log have sections of rules that are gone, or events with other columns? */
  private var outdated = false

  private def live: Iterator[Int] = buckets.indices.iterator.filter(buckets(_) != null)

  private def bucket(rule: Int): Bucket = {
    if (buckets(rule) == null) buckets(rule) = newBucket(rule)
    unsaved += rule
    buckets(rule)
  }

  private def newBucket(rule: Int): Bucket = {
    val plan = plans(rule)
    new Bucket(plan.plan, plan.recognizer(set, rows), plan.identified(set.event))
  }

  def read(events: Array[RuleEvent], watermark: Long, out: BucketOutput): Unit = {
    val each = new OfRules(out)
    val byRule = mutable.LinkedHashMap.empty[Int, mutable.ArrayBuffer[Event]]
    events.foreach { e =>
      out.counts.events += 1
      if (isLateElsewhere(e, watermark)) each.dontTell(e.payload)
      dispatch(e.group, e.met)
      (0 until dispatch.count).foreach { i =>
        val rule = dispatch.reading(i)
        val read = Event(
          e.key,
          e.time,
          e.time,
          timed = true,
          e.order,
          e.arrival,
          dispatch.mask(rule),
          dispatch.more(rule),
          e.payload
        )
        byRule.getOrElseUpdate(rule, mutable.ArrayBuffer.empty) += read
      }
    }
    byRule.foreach { case (rule, its) => each.of(rule)(_.read(its.toArray, watermark, each)) }
    advance(watermark, each, !byRule.contains(_))
  }

  /** Is the event late for the group to which it was sent first, too? An event behind Spark's watermark is late for all
    * of them, and is one late event.
    */
  private def isLateElsewhere(e: RuleEvent, watermark: Long): Boolean =
    !e.first && e.time < watermark && set.rules.head.plan.stream.watermark.exists(!_.chained)

  def advance(watermark: Long, out: BucketOutput): Unit = advance(watermark, new OfRules(out), _ => true)

  /** Visits the rules that have something to do at this time. */
  private def advance(watermark: Long, out: OfRules, which: Int => Boolean): Unit = {
    live.filter(r => which(r) && buckets(r).wakeAt.exists(_ < watermark)).toVector.foreach { r =>
      out.of(r)(_.advance(watermark, out))
    }
    out.close()
  }

  /** What comes out of rules, one after the other. An event that is late for several rules is one late event. */
  final private class OfRules(all: BucketOutput) extends BucketOutput(lateRows = false, eventTime = false) {
    private val lates =
      java.util.Collections.newSetFromMap(new java.util.IdentityHashMap[Array[Byte], java.lang.Boolean])
    private val tally = new RuleTally(set.rules.length)
    private var working = 0

    def of(rule: Int)(work: Bucket => Unit): Unit = {
      working = rule
      val started = System.nanoTime()
      val read = counts.events
      try work(bucket(rule))
      catch { case NonFatal(e) => throw FailedRule(plans(rule), e) }
      tally.add(rule, RuleTally.Events, counts.events - read)
      tally.add(rule, RuleTally.Nanos, math.max(1, System.nanoTime() - started))
    }

    def close(): Unit = {
      all.counts.idle += counts.idle
      all.counts.lateness = math.max(all.counts.lateness, counts.lateness)
      all.counts.rules = Some(tally)
    }

    def dontTell(payload: Array[Byte]): Unit = lates.add(payload): Unit

    override def matched(row: UnsafeRow, end: Long): Unit = {
      tally.add(working, RuleTally.Matches, 1)
      all.matched(row, end)
    }
    override def late(e: Event): Unit = if (lates.add(e.payload)) all.late(e)
  }

  def wakeAt: Option[Long] = live.flatMap(buckets(_).wakeAt).minOption

  def isEmpty: Boolean = live.forall(buckets(_).isEmpty)

  /** Each rule counts the events that it keeps; those that several keep are there once. */
  def bytes: Long = math.max(live.map(buckets(_).bytes).sum - repeated, pieceSizes.ofFull)

  def measure(counts: Counts): Unit = {
    live.foreach(buckets(_).measure(counts))
    counts.bytes = pieceSizes.total
    val tally = counts.rules.getOrElse(new RuleTally(set.rules.length))
    tally.begunAnew = begunAnew.toVector
    tally.gone = gone.toVector
    begunAnew.clear()
    gone.clear()
    plans.indices.filter(tally.did).foreach { rule =>
      val size = Counts()
      buckets(rule).measure(size)
      tally.add(rule, RuleTally.Nodes, size.nodes)
      tally.add(rule, RuleTally.Bytes, size.bytes)
    }
    counts.rules = Some(tally)
  }

  def save(): (Array[Byte], Boolean) = {
    val full = head == LogHead.Empty || outdated || pieceSizes.wantFull
    val arrays = new SharedArrays
    val rules = if (full) live.toVector else unsaved.toVector
    val sections = rules.map(r => r -> buckets(r).save(full || !savedOnce(r), arrays))
    val piece = Frame.write { out =>
      out.array(set.event.json.getBytes(UTF_8))
      arrays.save(out)
      out.int(sections.length)
      sections.foreach { case (r, bytes) =>
        out.array(plans(r).identity.getBytes(UTF_8))
        out.array(bytes)
      }
      // Nothing more if all rules have the columns with which they began.
      val late = sections.indices.filter(i => plans(sections(i)._1).added.nonEmpty)
      if (late.nonEmpty) {
        out.int(late.length)
        late.foreach { i =>
          val added = plans(sections(i)._1).added.toVector.sorted
          out.int(i)
          out.int(added.length)
          added.foreach(name => out.array(name.getBytes(UTF_8)))
        }
      }
    }
    repeated = if (full) arrays.repeated else repeated + arrays.repeated
    unsaved.clear()
    savedOnce ++= rules
    outdated = false
    pieceSizes.note(full, piece)
    (piece, full)
  }

  /** The rules that have a section in the log. */
  private val savedOnce = mutable.HashSet.empty[Int]

  private def restore(pieces: Vector[Array[Byte]]): Unit = {
    val sections = mutable.LinkedHashMap.empty[String, Section]
    val loaded = mutable.ArrayBuffer.empty[SharedArrays]
    pieces.zipWithIndex.foreach { case (bytes, i) =>
      pieceSizes.note(i == 0, bytes)
      val in = Frame.read(bytes)
      val columns = DataType.fromJson(new String(in.array(), UTF_8)).asInstanceOf[StructType]
      if (columns != set.event) outdated = true
      val arrays = SharedArrays.load(in, RuleBucket.changed(columns, set.event)(_))
      val its = Vector.fill(in.int()) {
        val section = sections.getOrElseUpdate(new String(in.array(), UTF_8), new Section)
        section.pieces += in.array() -> arrays
        section.columns = columns.fieldNames.toSet
        section
      }
      if (!in.done) (0 until in.int()).foreach { _ =>
        val section = its(in.int())
        section.columns --= Vector.fill(in.int())(new String(in.array(), UTF_8))
      }
      loaded += arrays
    }
    sections.foreach { case (identity, section) =>
      val id = identity.take(identity.lastIndexOf(' '))
      numberOf.get(id).map(r => r -> set.rules(r).since(section.columns, set.event)) match {
        case Some((r, plan)) if plan.identity == identity =>
          plans(r) = plan
          buckets(r) = Bucket.load(newBucket(r), section.pieces.toVector, LogHead.Empty)
          savedOnce += r
        case Some(_) => begunAnew += id
        case None    => gone += id
      }
    }
    repeated = loaded.map(_.repeated).sum
    if (begunAnew.nonEmpty || gone.nonEmpty) outdated = true
  }

  /** What the log has of a rule: its pieces, and the columns that events had when its state began. */
  final private class Section {
    val pieces = mutable.ArrayBuffer.empty[(Array[Byte], SharedArrays)]
    var columns = Set.empty[String]
  }
}

private[sparkcer] object RuleBucket {

  /** Payloads with the columns that a set keeps now, from those that it kept when they were saved. A column that it did
    * not keep is NULL.
    */
  private def changed(was: StructType, now: StructType): View =
    if (was == now) View.Whole
    else
      new View.Projected(
        now.map { f =>
          was.fieldNames.indexOf(f.name) match {
            case i if i >= 0 && was(i).dataType == f.dataType => BoundReference(i, f.dataType, nullable = true)
            case _                                            => Literal(null, f.dataType)
          }
        },
        was.length
      )

  /** The bucket that a log describes. */
  def load(set: RuleSetPlan, pieces: Vector[Array[Byte]], head: LogHead): RuleBucket = {
    val bucket = new RuleBucket(set)
    bucket.restore(pieces)
    bucket.head = head
    bucket
  }
}
