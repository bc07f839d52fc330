package sparkcer.internal.bind

import sparkcer.engine.ceql.{Consume, Query, Window}
import sparkcer.engine.evaluate.Program
import sparkcer.engine.explain.Explain

/** A query's plan in words: what the engine says of itself, and how Spark runs it. */
object Explanation {

  def apply(program: Program): String =
    s"${Explain(program)}\n\nOn Spark\n" + (tasks(program.query) ++ state(program.query) :+ MicroBatch)
      .map("  " + _)
      .mkString("\n")

  private val MicroBatch =
    "a stream keeps the events that it needs of a micro-batch, and their matches, in memory: " +
      "maxOffsetsPerTrigger (Kafka) or maxFilesPerTrigger bounds them"

  private def tasks(q: Query): Vector[String] = {
    val bounded = q.within.exists(!_.isInstanceOf[Window.Events])
    if (q.consumeBy == Consume.Any)
      Vector("one task reads all events, because CONSUME BY ANY puts all of them in order")
    else if (q.partitionBy.nonEmpty) Vector(s"in parallel by ${q.partitionBy.map(_.value).mkString(", ")}")
    else if (bounded && q.consumeBy == Consume.None)
      Vector(
        s"a batch runs in parallel by slices of time${ifTime(q)}",
        "a stream runs on one task: PARTITION BY makes it parallel"
      )
    else Vector("one task reads all events: PARTITION BY makes it parallel")
  }

  private def state(q: Query): Vector[String] = q.within match {
    case None => Vector("a stream keeps its state for ever: WITHIN bounds it, or idle='7 days' drops idle keys")
    case Some(_: Window.Events) =>
      Vector("a stream keeps the state of every key it met: idle='7 days' drops idle ones")
    case _ => Vector(s"a stream with a watermark forgets a key when its window has passed${ifTime(q)}")
  }

  /** `WITHIN n [a]` may be over another column than the time, which only the call says. */
  private def ifTime(q: Query): String = q.within match {
    case Some(Window.Attribute(_, a)) => s", if ${a.value} is the time column"
    case _                            => ""
  }
}
