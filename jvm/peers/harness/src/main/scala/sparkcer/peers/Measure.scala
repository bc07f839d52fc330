package sparkcer.peers

import java.nio.file.Paths

/** Runs jobs one after the other and prints a line of JSON for each: passes that warm up, then those that count; or,
  * for a job that is about memory, one pass that looks at the heap. The time is that from the first event to the return
  * of the last one, on the wall; CPU time is that of the whole process, so a collector or a compiler in the background
  * counts too.
  */
final class Measure(peer: Peer) {

  def main(args: Array[String]): Unit = {
    args.map(path => Job.read(Paths.get(path))).foreach { job =>
      try if (job.memory) heap(job) else measure(job)
      catch { case e: Throwable => println(failure(job, told(e))) } // also for want of memory
    }
    System.out.flush()
    Runtime.getRuntime.halt(0) // whatever threads an engine leaves behind
  }

  private def measure(job: Job): Unit = {
    val loaded = peer.load(job)
    var last: Option[Timed] = None
    val warm = System.nanoTime() + (job.warmUp * 1e9).toLong
    var left = (warm - System.nanoTime()) / 1e9
    while (left > 0) {
      pass(job, loaded, left): Unit
      left = (warm - System.nanoTime()) / 1e9
    }
    var round = 0
    var spent = 0.0
    while (round < job.rounds && spent < Measure.Enough) {
      val timed = pass(job, loaded, job.timeout)
      if (timed.read == 0) throw new IllegalStateException("it ended without reading an event")
      if (last.forall(_.seconds > timed.seconds)) last = Some(timed)
      round += 1
      spent += timed.seconds
    }
    last.foreach(t => println(line(job, t)))
  }

  private def pass(job: Job, loaded: Loaded, seconds: Double): Timed = {
    val pass = loaded.newPass()
    val feed = new Feed(loaded.size, seconds)
    def timed(read: Int, matches: Long, over: Boolean) =
      Timed((System.nanoTime() - feed.begun) / 1e9, (Clock.cpu() - feed.cpu) / 1e9, read, matches, over)
    def stuck = timed(feed.read, pass.matches, over = true)
    // However short the pass, it has the whole time to start: what it was through with until then is a result.
    val matches = watched(
      job.timeout,
      if (stuck.read == 0) failure(job, "it did not read an event in time") else line(job, stuck)
    )(pass.run(feed))
    val found = timed(feed.handed, matches, feed.timedOut)
    pass.close()
    found
  }

  /** For an engine that stays in one event: the process ends with this line. */
  private def watched[A](seconds: Double, result: => String)(body: => A): A = {
    val watch = new Watch(seconds + Measure.Grace)(() => {
      println(result)
      System.out.flush()
      Runtime.getRuntime.halt(0)
    })
    try body
    finally watch.over()
  }

  /** The only pass of its process: after another one, the collector would free what that one has left behind, and this
    * would hide what the engine holds on to.
    */
  private def heap(job: Job): Unit = {
    val loaded = peer.load(job)
    val pass = loaded.newPass()
    val heap = new Heap(loaded.size)
    val late = failure(job, "it did not return in time")
    watched(job.timeout, late)(pass.run(new Feed(loaded.size, job.timeout, heap.seen))): Unit
    println(heap.peak.fold(failure(job, "it read too few events to look")) { bytes =>
      s"""{"workload": "${job.workload}", "peer": "${job.peer}", "heap": $bytes}"""
    })
  }

  private def failure(job: Job, why: String): String =
    s"""{"workload": "${job.workload}", "peer": "${job.peer}", "error": "$why"}"""

  /** Without what JSON does not have in a text. */
  private def told(e: Throwable): String = {
    val cause = Iterator.iterate[Throwable](e)(_.getCause).takeWhile(_ != null).toVector.last
    cause.toString.replaceAll("[\\\\\"\\p{Cntrl}]+", " ").take(300)
  }

  private def line(job: Job, t: Timed): String =
    s"""{"workload": "${job.workload}", "peer": "${job.peer}", "events": ${job.events}, """ +
      s""""read": ${t.read}, "seconds": ${t.seconds}, "cpu": ${t.cpu}, "matches": ${t.matches}, """ +
      s""""timed_out": ${t.timedOut}}"""
}

final private case class Timed(seconds: Double, cpu: Double, read: Int, matches: Long, timedOut: Boolean)

object Measure {

  /** Seconds that an engine has to start, and to return after the feed has ended. */
  private val Grace = 30.0

  /** Seconds of passes that count, after which there are no more. */
  private val Enough = 10.0
}
