package sparkcer.benchmarks.peers

import java.nio.file.Path

import sparkcer.benchmarks.Events
import sparkcer.peers.EventFile

/** A file of events as columns in memory. */
object EventColumns {
  def read(path: Path, most: Int): Events = {
    val (header, rows) = EventFile.rows(path, most)
    val all = rows.toArray
    val columns = header.zipWithIndex.map { case (name, c) =>
      name match {
        case "type" | "name" | "x" | "y" => Events.Strings(all.map(row => if (row(c).isEmpty) null else row(c)))
        case "price"                     => Events.Doubles(all.map(_(c).toDouble))
        case _                           => Events.Integers(all.map(_(c).toLong))
      }
    }
    new Events(header, all.length, columns)
  }
}
