package sparkcer.engine.testkit

import scala.collection.mutable

import sparkcer.engine.automaton.EventCondition
import sparkcer.engine.ceql.{Consume, Quantity, Window}
import sparkcer.engine.evaluate.{Evaluator, Partitions, Program, Substream}

/** Runs a program over a stream of test events as an operator would: masks from the conditions, a substream for each
  * key.
  *
  * It uses on the way that no match comes twice, that what the structures promise holds after every event, and that
  * going over the matches a second time gives the same ones.
  */
final class Harness(program: Program, options: Harness.Options = Harness.Options()) {
  private val seen = mutable.ArrayBuffer.empty[Event]
  private val values = new Compared(program, payload => seen(BigInt(payload).toInt))
  private def newEvaluator() = new Evaluator(program, options.limits, values)
  private var partitions = new Partitions(newEvaluator())
  private def evaluator = partitions.evaluator
  private val found = mutable.LinkedHashSet.empty[Match]
  private val counted = mutable.LinkedHashMap.empty[Int, Long]
  private val lastTimes = mutable.Map.empty[String, Long]
  private var position = 0

  /** The keys by name. */
  private val keys = mutable.Map.empty[String, Vector[Value]]

  /** By key, the last events of the matches that wait for their deadline, where matches are counted and not listed. */
  private val waiting = mutable.Map.empty[String, mutable.Queue[Int]]
  private var lastTime = 0L

  def feed(events: Seq[Event]): this.type = { events.foreach(feed); this }

  /** Fires the deadlines up to a time, in millionths: no more events come until then. */
  def finish(until: Long): this.type = { fireAll(if (until == Long.MaxValue) until else until + 1); this }

  /** The same for the largest time of all events. */
  def finish(): this.type = finish(lastTime)

  def matches: Set[Match] = found.toSet

  /** Under `SELECT COUNT(*)`: how many matches each event closed that closed any. */
  def counts: Map[Int, Long] = counted.toMap

  def save(): Array[Byte] = partitions.save()
  def saveChanges(): Array[Byte] = {
    val keys = mutable.ArrayBuffer.empty[Array[Byte]]
    partitions.foreach((key, _) => keys += key)
    partitions.saveChanges(keys.iterator)
  }

  /** Goes on as another process would that has only what was saved. */
  def restart(pieces: Seq[Array[Byte]]): Unit = {
    partitions = Partitions.load(newEvaluator(), pieces.map(_ -> null))
    partitions.foreach((_, substream) => substream.checkInvariants())
  }

  private def feed(event: Event): Unit = {
    seen += event
    val key = program.query.partitionBy.map(a => event(a.value))
    val mask = Harness.mask(program, event)
    val dropped = options.drop && program.droppable && mask.forall(_ == 0)
    time(event).foreach { case (at, _) =>
      if (program.waits.nonEmpty) {
        lastTime = at
        if (!options.lazily) fireAll(at)
      }
    }
    if (!key.contains(Value.Null) && !dropped) {
      if (options.remove) removePassed(event)
      val name = key.map(_.show).mkString(",")
      keys(name) = key
      val substream = partitions.getOrCreate(name.getBytes("UTF-8"))
      time(event).foreach { case (at, _) => lastTimes(name) = at }
      val known = if (mask.length == 1) evaluator.classOf(mask(0)) else evaluator.classOf(mask)
      val cls = lookBack(substream, known, event)
      val payload = BigInt(position).toByteArray
      time(event) match {
        case Some((at, bound)) if program.waits.nonEmpty => readWithDeadlines(name, substream, cls, at, bound, payload)
        case Some((at, bound)) => if (substream.read(cls, at, bound, payload)) closed(key, substream, position)
        case None              => if (substream.readUntimed(cls, payload)) closed(key, substream, position)
      }
      substream.checkInvariants()
    }
    position += 1
  }

  /** The lengths in millionths. */
  private val looksBack = program.looksBack.map(w => (Valuations.sizeOf(w)._2 * 1000000).toLong)

  private def lookBack(substream: Substream, cls: Int, event: Event): Int = event("t") match {
    case Value.Num(t) if looksBack.nonEmpty =>
      val at = (t * 1000000).toLong
      substream.lookBack(cls, at, looksBack.map(at - _).toArray)
    case _ => cls
  }

  private def readWithDeadlines(
      name: String,
      substream: Substream,
      cls: Int,
      at: Long,
      bound: Long,
      payload: Array[Byte]
  ): Unit = {
    // Other keys can wait, unless what closes in one consumes what began in another.
    if (program.query.consumeBy == Consume.Any) fireAll(at)
    else while (substream.deadline < at) fire(name, substream, at)
    val before = waiting.getOrElseUpdate(name, mutable.Queue.empty)
    val mask = Harness.mask(program, seen.last)
    val isAbsent = program.cea.endings.flatMap(_.absent.map(_.condition)).exists(c => (mask(c >> 6) >>> c & 1) != 0)
    if (isAbsent || substream.waiting == 0) before.clear()
    val deadlines = waits.map(at + _).toArray
    if (substream.readWithDeadlines(cls, at, bound, deadlines, deadlines.map(bound - at + _), payload))
      closed(keys(name), substream, position, deadline = None)
    if (program.countsRuns) {
      if (substream.waiting > before.size) before += position
      require(substream.waiting == before.size, s"${substream.waiting} wait, and not ${before.size}")
    }
  }

  /** Fires all deadlines before a time, in order. */
  private def fireAll(before: Long): Unit = {
    def next: Option[(String, Substream)] = {
      val all = mutable.ArrayBuffer.empty[(String, Substream)]
      partitions.foreach((key, s) => if (s.deadline < before) all += ((new String(key, "UTF-8"), s)))
      all.minByOption { case (_, s) => (s.deadline, s.owner) }
    }
    Iterator.continually(next).takeWhile(_.isDefined).flatten.foreach { case (name, s) => fire(name, s, before) }
  }

  private def fire(name: String, substream: Substream, before: Long): Unit = {
    val due = substream.deadline
    require(substream.fire(before) && evaluator.deadline == due, s"the deadline $due is not fired")
    val end = if (program.countsRuns) waiting(name).dequeue() else endOfMatches(substream)
    closed(keys(name), substream, end, Some(BigDecimal(due) / 1000000))
    substream.checkInvariants()
  }

  private def endOfMatches(substream: Substream): Int = {
    val all = evaluator.matches
    require(all.next(), "a deadline closes no match")
    BigInt(substream.payload(all.end)).toInt
  }

  /** @param end the last event of the matches */
  private def closed(key: Vector[Value], substream: Substream, end: Int, deadline: Option[BigDecimal] = None): Unit =
    if (program.counts) counted(end) = counted.getOrElse(end, 0L) + evaluator.count
    else collect(key, substream, end, deadline)

  private def collect(key: Vector[Value], substream: Substream, end: Int, deadline: Option[BigDecimal]): Unit = {
    def read(): Vector[Match] = {
      val all = evaluator.matches
      Iterator
        .continually(())
        .takeWhile(_ => all.next())
        .map { _ =>
          def at(event: Int) = BigInt(substream.payload(event)).toInt
          val marks = (0 until all.length).flatMap { i =>
            program.cea.labels(all.label(i)).map(x => x -> at(all.event(i)))
          }
          Match(key, at(all.start), at(all.end), marks.groupMap(_._1)(_._2).view.mapValues(_.toSet).toMap, deadline)
        }
        .toVector
    }
    val once = read()
    require(once.nonEmpty, s"event $end is said to close a match, and there is none")
    once.foreach(m => require(found.add(m), s"twice: ${m.show}"))
    require(once.forall(_.end == end), s"event $end closes a match that ends elsewhere")
    require(read() == once, s"the matches of event $end differ the second time")
  }

  /** Removes the keys whose last event is out of the window of this one and need not be looked back at, unless matches
    * wait there, as a stream does.
    */
  private def removePassed(event: Event): Unit = time(event).foreach { case (at, bound) =>
    lastTimes.filterInPlace { (key, last) =>
      val passed =
        last < bound && looksBack.forall(last < at - _) && partitions.getOrCreate(key.getBytes("UTF-8")).waiting == 0
      if (passed) partitions.remove(key.getBytes("UTF-8"))
      !passed
    }
  }

  /** The time of an event and the earliest start of a match that ends at it, in millionths; None for NULL. */
  private def time(event: Event): Option[(Long, Long)] = {
    def difference(attribute: String, micros: BigDecimal) = event(attribute) match {
      case Value.Num(n) =>
        val at = (n * 1000000).toLong
        Some((at, (BigDecimal(at) - micros).setScale(0, BigDecimal.RoundingMode.CEILING).toLong))
      case _ => None
    }
    program.query.within match {
      case Some(Window.Attribute(Quantity.Number(n), a)) => difference(a.value, n * 1000000)
      case Some(Window.Duration(micros))                 => difference("t", BigDecimal(micros))
      // Long before all events, and so that deadlines can be added to it.
      case _ if program.waits.nonEmpty => difference("t", 0).map(_.copy(_2 = Long.MinValue / 2))
      case _                           => Some((position.toLong, Long.MinValue))
    }
  }

  /** For how long matches wait, in millionths. */
  private val waits = program.waits.map(d => (Valuations.sizeOf(d)._2 * 1000000).toLong)
}

object Harness {

  /** @param drop
    *   whether events without a bit are dropped where the program allows it
    * @param remove
    *   whether keys are removed when their window has passed
    * @param lazily
    *   whether deadlines are fired when an event of their key comes, instead of when any comes
    */
  final case class Options(
      limits: Evaluator.Limits = Evaluator.Limits(),
      drop: Boolean = false,
      remove: Boolean = false,
      lazily: Boolean = false
  )

  def run(program: Program, events: Seq[Event], options: Options = Options()): Set[Match] =
    new Harness(program, options).feed(events).finish().matches

  /** Saves after each event, and goes on in another process now and then. */
  def cutAndLoaded(program: Program, events: Seq[Event], often: Int): Harness = {
    val harness = new Harness(program, Options(remove = true))
    var pieces = Vector(harness.save())
    events.zipWithIndex.foreach { case (event, i) =>
      harness.feed(Seq(event))
      pieces :+= harness.saveChanges()
      if (i % often == 0) harness.restart(pieces)
    }
    harness
  }

  def run(query: String, events: String): Vector[String] = Match.show(run(Program(query), Event.stream(events)))

  /** Bit i of the words says whether the event passes condition i. */
  def mask(program: Program, event: Event): Array[Long] = {
    val words = new Array[Long](math.max(1, (program.conditions.length + 63) / 64))
    program.conditions.zipWithIndex.foreach { case (g, i) => if (passes(g, event)) words(i >> 6) |= 1L << i }
    words
  }

  private def passes(condition: EventCondition, event: Event): Boolean = {
    val positive = condition.eventType == event.eventType && condition.stream.forall(_ == event.stream) &&
      condition.holds.forall(p => Sql.holds(p.sql, event)) && !condition.fails.exists(p => Sql.holds(p.sql, event))
    positive != condition.negated
  }
}
