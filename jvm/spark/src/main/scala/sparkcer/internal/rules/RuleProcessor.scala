package sparkcer.internal.rules

import sparkcer.engine.state.Frame
import sparkcer.internal.bind.PlannedStream
import sparkcer.internal.stream.{BucketProcessor, LogAbout, LogHead, LogMeaning}

/** Evaluates the rules of a set on the events of a bucket. */
private[sparkcer] class RuleProcessor(set: ForTasks[RuleSetPlan], stream: PlannedStream, cacheBytes: Option[Long])
    extends BucketProcessor[RuleEvent, RuleBucket](stream, oneTask = false, cacheBytes) {

  /** What all rules share. The rules themselves may change. */
  protected def about(buckets: Int): LogAbout = LogAbout(
    Frame.Version,
    "a set of rules",
    "",
    stream.state.ordering,
    Some(LogMeaning(stream.state.types, "", "", buckets)),
    LogHead.Empty.piece,
    LogHead.Empty.nonce
  )

  protected def load(pieces: Vector[Array[Byte]], head: LogHead): RuleBucket = RuleBucket.load(set.value, pieces, head)

  private[sparkcer] def tallyOf(row: RuleEvent): Array[Long] = row.tally
}
