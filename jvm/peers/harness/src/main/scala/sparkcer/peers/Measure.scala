package sparkcer.peers

import java.nio.file.Paths

/** Runs jobs one after the other and prints a line of JSON for each: passes that warm up, then those that count, then
  * one that looks at the heap. The time is that from the first event to the return of the last one, on the wall; CPU
  * time is that of the whole process, so a collector or a compiler in the background counts too.
  */
final class Measure(peer: Peer) {

  def main(args: Array[String]): Unit = {
    args.map(path => Job.read(Paths.get(path))).foreach { job =>
      try measure(job)
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
    while (round < job.rounds && spent < job.timeout / 2) {
      val timed = pass(job, loaded, job.timeout)
      if (timed.read == 0) throw new IllegalStateException("it ended without reading an event")
      if (last.forall(_.seconds > timed.seconds)) last = Some(timed)
      round += 1
      spent += timed.seconds
    }
    last.foreach(t => println(line(job, t, if (job.memory) peak(job, loaded, t) else Measure.NotAsked)))
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
      if (stuck.read == 0) failure(job, "it did not read an event in time") else line(job, stuck, Measure.NotAsked)
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

  /** One more pass, on as many events as it takes to see the largest state of any window. What goes wrong in it, also
    * for want of memory, takes nothing from what was measured before.
    */
  private def peak(job: Job, loaded: Loaded, found: Timed): Either[String, Long] =
    try {
      val pass = loaded.newPass()
      val size = math.min(loaded.size, Measure.HeapEvents)
      val heap = new Heap(size)
      val seconds = math.min(job.timeout, Measure.HeapSeconds)
      val late = line(job, found, Left("it did not return in time"))
      watched(seconds, late)(pass.run(new Feed(size, seconds, heap.seen))): Unit
      pass.close()
      heap.peak.toRight("it read too few events to look")
    } catch { case e: Throwable => Left(told(e)) }

  private def failure(job: Job, why: String): String =
    s"""{"workload": "${job.workload}", "peer": "${job.peer}", "error": "$why"}"""

  /** Without what JSON does not have in a text. */
  private def told(e: Throwable): String = {
    val cause = Iterator.iterate[Throwable](e)(_.getCause).takeWhile(_ != null).toVector.last
    cause.toString.replaceAll("[\\\\\"\\p{Cntrl}]+", " ").take(300)
  }

  private def line(job: Job, t: Timed, heap: Either[String, Long]): String =
    s"""{"workload": "${job.workload}", "peer": "${job.peer}", "events": ${job.events}, """ +
      s""""read": ${t.read}, "seconds": ${t.seconds}, "cpu": ${t.cpu}, "matches": ${t.matches}, """ +
      s""""timed_out": ${t.timedOut}, "heap": ${heap.fold(_ => "null", _.toString)}, """ +
      s""""heap_error": ${heap.fold(why => s"\"$why\"", _ => "null")}}"""
}

final private case class Timed(seconds: Double, cpu: Double, read: Int, matches: Long, timedOut: Boolean)

object Measure {

  private val NotAsked: Either[String, Long] = Left("it was not looked at")

  /** Seconds that an engine has to start, and to return after the feed has ended. */
  private val Grace = 30.0

  /** Seconds for looking at the heap: the state is at its largest as soon as a window is full. */
  private val HeapSeconds = 10.0

  /** The longest window of the workloads, 1,000 s, is 10,000 events of the stream of stocks. */
  private val HeapEvents = 50000
}
