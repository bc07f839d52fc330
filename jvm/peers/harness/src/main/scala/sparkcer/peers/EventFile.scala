package sparkcer.peers

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}

import scala.jdk.StreamConverters._

/** A file of comma-separated values with a header and without quotes. An empty value is NULL. */
object EventFile {

  /** The names of the columns, and the first rows. */
  def rows(path: Path, most: Int): (Vector[String], Iterator[Array[String]]) = {
    val lines = Files.lines(path, UTF_8).toScala(Iterator)
    val header = lines.next().split(',').toVector
    (header, lines.take(most).map(_.split(",", -1)))
  }

  def events(path: Path, most: Int): Array[Event] = {
    val (header, all) = rows(path, most)
    val set = header.map(setter).toArray
    all.map { row =>
      val event = new Event
      var i = 0
      while (i < set.length) { if (row(i).nonEmpty) set(i)(event, row(i)); i += 1 }
      event
    }.toArray
  }

  private def setter(column: String): (Event, String) => Unit = column match {
    case "type"   => _.kind = _
    case "id"     => (e, v) => e.id = v.toLong
    case "name"   => _.name = _
    case "volume" => (e, v) => e.volume = v.toLong
    case "price"  => (e, v) => e.price = v.toDouble
    case "x"      => _.x = _
    case "y"      => _.y = _
    case "key"    => (e, v) => e.key = v.toLong
    case "ts"     => (e, v) => e.ts = v.toLong
    case other    => throw new IllegalArgumentException(s"an event has no column $other")
  }
}
