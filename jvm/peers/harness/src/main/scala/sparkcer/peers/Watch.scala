package sparkcer.peers

/** Does something if it is not over after some seconds. */
final private class Watch(seconds: Double)(late: () => Unit) {
  private val thread = new Thread(() =>
    try {
      Thread.sleep((seconds * 1000).toLong)
      late()
    } catch { case _: InterruptedException => () }
  )
  thread.setDaemon(true)
  thread.start()

  def over(): Unit = thread.interrupt()
}
