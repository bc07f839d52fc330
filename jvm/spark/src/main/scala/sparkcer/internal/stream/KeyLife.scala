package sparkcer.internal.stream

import sparkcer.internal.bind.Plan
import sparkcer.internal.output.Recognizer

/** When the state of a key can be dropped, by the time of its last event: when its window has passed, so that it cannot
  * be part of a match any more, or when it had no event for `idle`.
  */
final private[stream] class KeyLife(plan: Plan, recognizer: Recognizer) {
  private val watermarked = plan.stream.watermark.isDefined

  /** The window of keys whose last event is earlier has passed, if all events before `released` are read. */
  def passed(released: Long): Long =
    if (plan.window.ofTime && watermarked && released != Long.MinValue) recognizer.lastsFrom(released)
    else Long.MinValue

  /** Keys whose last event is earlier are idle at a time. */
  def idle(now: Long): Long =
    plan.stream.idle.fold(Long.MinValue)(n => if (now < Long.MinValue + n) Long.MinValue else now - n)

  /** With a watermark: the time at which a key can be dropped. */
  def endsAt(last: Long): Option[Long] = {
    val passed = if (plan.window.endsInTime) Some(plan.window.clock.after(last, plan.window.lastsFor)) else None
    val idle = plan.stream.idle.map(n => if (last > Long.MaxValue - n - 1) Long.MaxValue else last + n + 1)
    (passed ++ idle).minOption
  }
}
