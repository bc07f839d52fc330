package sparkcer.internal.simulation

import sparkcer.internal.stream.{BucketLog, EngineCache, LiveBucket, LogHead}

/** A bug to be found: something that the state store or the cache of engines does wrong now and then, as it would be if
  * the code that uses it forgot a step.
  */
sealed abstract class Bug {
  private var times = 0

  /** True every few times. */
  protected def sometimes(): Boolean = { times += 1; times % 7 == 0 }

  /** Is what a micro-batch changed not written to the log? */
  def losesPiece(key: Long): Boolean = false

  /** Is a timer not set? */
  def losesTimer(): Boolean = false

  /** Is an engine taken from the cache whose log ended elsewhere? */
  def takesStaleEngine: Boolean = false

  /** Are buckets without events not visited when a stream starts? */
  def skipsVisits: Boolean = false

  /** The engines of an executor, which may be idle for a second of this clock. */
  final def newCache(nanos: () => Long): EngineCache =
    if (!takesStaleEngine) new EngineCache(idleMillis = 1000, nanos)
    else
      new EngineCache(idleMillis = 1000, nanos) {
        override protected def fits(bucket: LiveBucket[_], head: LogHead): Boolean = true
      }
}

object Bug {
  final class None extends Bug

  final class ForgottenPiece extends Bug {
    override def losesPiece(key: Long): Boolean = key != BucketLog.About && sometimes()
  }

  final class LostTimer extends Bug {
    override def losesTimer(): Boolean = sometimes()
  }

  final class SkippedVisit extends Bug {
    override def skipsVisits: Boolean = true
  }

  final class StaleEngine extends Bug {
    override def takesStaleEngine: Boolean = true
  }
}
