package sparkcer.peers

import java.lang.management.ManagementFactory

/** The heap that an engine holds on to: what is left after a collection at some events on the way, or every two seconds
  * if the engine is slow, beyond what was there before the first event. What it needs for a moment, and what the
  * collector has not taken yet, is not in it.
  */
final class Heap(size: Int) {

  /** Taken at the first event, because some engines start a job before it. */
  private var before = 0L
  private val every = math.max(1, size / Heap.Samples)
  private var largest = -1L
  private var last = System.nanoTime()

  def seen(event: Int): Unit =
    if (event == 0) before = Heap.used()
    else if (event % every == 0 || System.nanoTime() - last > Heap.Often) {
      largest = math.max(largest, math.max(0L, Heap.used() - before))
      last = System.nanoTime()
    }

  /** None if there was no occasion to look. */
  def peak: Option[Long] = if (largest < 0) None else Some(largest)
}

object Heap {
  private val Samples = 8
  private val Often = 2000000000L

  /** Twice: what a first collection finds to be unreachable may hold on to more. */
  private def used(): Long = {
    System.gc()
    System.gc()
    ManagementFactory.getMemoryMXBean.getHeapMemoryUsage.getUsed
  }
}
