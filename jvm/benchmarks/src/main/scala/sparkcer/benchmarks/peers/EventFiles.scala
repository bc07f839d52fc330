package sparkcer.benchmarks.peers

import java.nio.file.{Files, Path, Paths}

import sparkcer.benchmarks.{Events, Streams}

/** Writes streams as the files that all engines of scripts/peers read: comma-separated, with the time as `ts` and the
  * position as `id`.
  *
  * {{{
  * sbt "benchmarks/runMain sparkcer.benchmarks.peers.EventFiles target/peers stocks 500000 keys-1000 500000"
  * }}}
  */
object EventFiles {
  def main(args: Array[String]): Unit = {
    val folder = Files.createDirectories(Paths.get(args(0)))
    args.drop(1).grouped(2).foreach { asked =>
      write(folder.resolve(s"${asked(0)}-${asked(1)}.csv"), Streams(asked(0), asked(1).toInt))
    }
  }

  private def write(path: Path, events: Events): Unit = {
    val names = events.names.filter(_ != "id")
    // Under another name until it is whole: an interrupted run must not leave half a file.
    val unfinished = path.resolveSibling(s"${path.getFileName}.unfinished")
    val out = Files.newBufferedWriter(unfinished)
    try {
      out.write(("id" +: names.map(n => if (n == "stock_time") "ts" else n)).mkString("", ",", "\n"))
      val columns = names.map(events.text)
      for (i <- 0 until events.size) out.write((i.toString +: columns.map(_(i))).mkString("", ",", "\n"))
    } finally out.close()
    Files.move(unfinished, path, java.nio.file.StandardCopyOption.REPLACE_EXISTING): Unit
  }
}
