package sparkcer.peers

/** Hands the numbers of the events to an engine, one by one, until they are through or the time is over. The time
  * begins with the first event that the engine asks for: some start a job before that.
  *
  * @param seen
  *   called before each event with its number; for taking the size of the heap
  */
final class Feed(val size: Int, timeout: Double, seen: Int => Unit = null) {
  private var deadline = Long.MaxValue
  private var at = -1

  @volatile var timedOut = false

  /** When the engine asked for the first event, and the CPU time of the process at that moment. */
  @volatile var begun: Long = System.nanoTime()
  @volatile var cpu: Long = Clock.cpu()

  /** Written by the thread of the engine, and read by the one that watches it. */
  @volatile var read = 0

  /** How many events were handed out, for when the engine has returned: some do not ask for the end. */
  def handed: Int = at + 1

  /** The number of the next event, or -1 at the end. */
  def next(): Int = {
    val n = at + 1
    if (n == 0) start()
    if (n >= size) end()
    else if ((n & Feed.Often) == 0 && System.nanoTime() > deadline) { timedOut = true; end() }
    else {
      at = n
      if ((n & Feed.Often) == 0) read = n
      if (seen != null) seen(n)
      n
    }
  }

  private def start(): Unit = {
    cpu = Clock.cpu()
    begun = System.nanoTime()
    deadline = begun + (timeout * 1e9).toLong
  }

  private def end(): Int = { read = at + 1; -1 }
}

object Feed {

  /** Whether the time is over is asked once for so many events and one. */
  private val Often = 63
}
