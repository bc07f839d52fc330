package sparkcer.engine.testkit

import scala.collection.mutable

import sparkcer.engine.automaton.EventCondition
import sparkcer.engine.ceql.{Quantity, Window}
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

  def feed(events: Seq[Event]): this.type = { events.foreach(feed); this }

  def matches: Set[Match] = found.toSet

  /** Under `SELECT COUNT(*)`: how many matches each event closed that closed any. */
  def counts: Map[Int, Long] = counted.toMap

  def save(): Array[Byte] = partitions.save()
  def saveChanges(): Array[Byte] = partitions.saveChanges()

  /** Goes on as another process would that has only what was saved. */
  def restart(pieces: Seq[Array[Byte]]): Unit = {
    partitions = Partitions.load(newEvaluator(), pieces)
    partitions.foreach((_, substream) => substream.checkInvariants())
  }

  private def feed(event: Event): Unit = {
    seen += event
    val key = program.query.partitionBy.map(a => event(a.value))
    val mask = Harness.mask(program, event)
    val dropped = options.drop && program.droppable && mask.forall(_ == 0)
    if (!key.contains(Value.Null) && !dropped) {
      if (options.remove) removePassed(event)
      val name = key.map(_.show).mkString(",")
      val substream = partitions.getOrCreate(name.getBytes("UTF-8"))
      time(event).foreach { case (at, _) => lastTimes(name) = at }
      val cls = if (mask.length == 1) evaluator.classOf(mask(0)) else evaluator.classOf(mask)
      val payload = BigInt(position).toByteArray
      val closes = time(event) match {
        case Some((at, bound)) => substream.read(cls, at, bound, payload)
        case None              => substream.readUntimed(cls, payload)
      }
      if (closes) if (program.counts) counted(position) = evaluator.count else collect(key, substream)
      substream.checkInvariants()
    }
    position += 1
  }

  private def collect(key: Vector[Value], substream: Substream): Unit = {
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
          Match(key, at(all.start), at(all.end), marks.groupMap(_._1)(_._2).view.mapValues(_.toSet).toMap)
        }
        .toVector
    }
    val once = read()
    require(once.nonEmpty, s"event $position is said to close a match, and there is none")
    once.foreach(m => require(found.add(m), s"twice: ${m.show}"))
    require(once.forall(_.end == position), s"event $position closes a match that ends elsewhere")
    require(read() == once, s"the matches of event $position differ the second time")
  }

  /** Removes the keys whose last event is out of the window of this one, as a stream does. */
  private def removePassed(event: Event): Unit = time(event).foreach { case (_, bound) =>
    lastTimes.filterInPlace { (key, last) =>
      if (last < bound) partitions.remove(key.getBytes("UTF-8"))
      last >= bound
    }
  }

  /** The time of an event and the earliest start of a match that ends at it, in millionths; None for NULL. */
  private def time(event: Event): Option[(Long, Long)] = {
    def difference(attribute: String, micros: BigDecimal) = event(attribute) match {
      case Value.Num(n) =>
        Some(((n * 1000000).toLong, (n * 1000000 - micros).setScale(0, BigDecimal.RoundingMode.CEILING).toLong))
      case _ => None
    }
    program.query.within match {
      case Some(Window.Attribute(Quantity.Number(n), a)) => difference(a.value, n * 1000000)
      case Some(Window.Duration(micros))                 => difference("t", BigDecimal(micros))
      case _                                             => Some((position.toLong, Long.MinValue))
    }
  }
}

object Harness {

  /** @param drop
    *   whether events without a bit are dropped where the program allows it
    * @param remove
    *   whether keys are removed when their window has passed
    */
  final case class Options(
      limits: Evaluator.Limits = Evaluator.Limits(),
      drop: Boolean = false,
      remove: Boolean = false
  )

  def run(program: Program, events: Seq[Event], options: Options = Options()): Set[Match] =
    new Harness(program, options).feed(events).matches

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
