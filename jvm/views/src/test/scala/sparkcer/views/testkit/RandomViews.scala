package sparkcer.views.testkit

import java.sql.Timestamp
import java.util.concurrent.atomic.AtomicInteger

import scala.util.Random

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.StructType

import sparkcer.views.Views
import sparkcer.views.catalog.{CatalogFiles, Table}

/** Random rows in a random order of appends, late rows, gaps, maintenance, restarts and roll-ups, into a table with a
  * view. At the end, the view has to have the parts and the rows of its definition, computed from all rows at once.
  *
  * @param fault
  *   a planted error, to show that such errors are found
  */
final class RandomViews(seed: Long, kind: RandomViews.Kind, fault: RandomViews.Fault = RandomViews.NoFault) {
  import RandomViews._

  private val rng = new Random(seed)
  private val first = Base + rng.nextInt(1000)
  // A case has tables of its own. Most cases share a session, because its copies take longer than a case.
  private val number = Numbers.incrementAndGet()
  private var v = shared
  private var all = Vector.empty[Event]
  private var last = first

  /** What differs from the definition. */
  def run(): Option[String] = {
    v.createTable(own("M"), "t TIMESTAMP, g STRING, v INT", "t", "60")
    v.sql(own(kind.statement))
    append(first +: Vector.fill(2)(first + rng.nextInt(3)))
    (0 to rng.nextInt(5) / 4).foreach { _ =>
      if (rng.nextInt(3) > 0) maintain()
      if (rng.nextInt(10) == 0) v = Views.open(PartWorld.spark, Folder)
      if (rng.nextInt(6) == 0) v.rollUp(own("M"), time(last), "2 minutes")
      val gap = if (rng.nextInt(4) == 0) 5 else 1
      append(Vector.fill(1 + rng.nextInt(4))(first + rng.nextInt((last - first).toInt + 1 + gap)))
    }
    val failed = maintain().collect().filter(_.getAs[String]("action") == "failed")
    val found = contents(own(kind.name))
    val right = kind.right(all, first, last)
    v.drop(own("M"), cascade = true)
    if (failed.nonEmpty) Some(s"failed: ${failed.mkString(", ")}")
    else if (found != right) Some(s"${kind.name}: $found is not $right")
    else None
  }

  private def maintain() = {
    val report = v.maintain()
    spoil(fault.maintained)
    report
  }

  private def spoil(change: Table => Table): Unit =
    if (fault ne NoFault) catalog.commit((c, _) => (c.updated(change(c(own(kind.name)))), ()))

  private def own(text: String) = Names.replaceAllIn(text, m => s"${m.matched}$number")

  private def time(part: Long) = new Timestamp(part * 60000)

  private def append(parts: Vector[Long]): Unit = {
    val rows = parts.map { p =>
      Event(p, Seq("a", "b", null)(rng.nextInt(3)), if (rng.nextInt(6) == 0) None else Some(rng.nextInt(100) - 50))
    }
    all ++= rows
    last = last.max(parts.max)
    val frame = rows.map(e => Row(new Timestamp(e.part * 60000 + rng.nextInt(60000)), e.g, e.v.map(Int.box).orNull))
    (0 to fault.again(parts)).foreach(_ => v.append(own("M"), PartWorld.frame(frame, Schema)))
    spoil(fault.appended)
  }

  private def contents(name: String): Map[Long, Seq[String]] = {
    val parts = v.parts(name).collect().map(r => r.getAs[Timestamp]("part_timestamp").getTime / 60000)
    val rows = v.read(name).collect().groupBy(_.getAs[Timestamp]("PART_TIMESTAMP").getTime / 60000)
    parts.map(p => p -> rows.getOrElse(p, Array.empty[Row]).map(r => r.toSeq.init.mkString("|")).sorted.toSeq).toMap
  }
}

object RandomViews {
  private val Schema = StructType.fromDDL("t TIMESTAMP, g STRING, v INT")
  private val Numbers = new AtomicInteger
  private val Names = """\b(M|Sums|Total|Count|Since|Recent|Longer|Prefix|Extreme)\b""".r
  private lazy val Folder = TestFolders.make("random")
  private lazy val catalog = new CatalogFiles(new Path(Folder), PartWorld.spark.sparkContext.hadoopConfiguration)
  private lazy val shared = Views.open(PartWorld.spark, Folder)
  private val Base = 23667840L // 2015-01-01 00:00, a multiple of all lengths

  /** An error that is planted in the work of the maintainer.
    *
    * @param again
    *   how often rows for these parts are appended once more
    * @param appended
    *   what it does to the view after rows were appended
    * @param maintained
    *   what it does to the view after it was maintained
    */
  final case class Fault(
      again: Vector[Long] => Int = _ => 0,
      appended: Table => Table = identity,
      maintained: Table => Table = identity
  )

  val NoFault: Fault = Fault()

  /** A part of ten is skipped: it is there, without rows. */
  val Skipped: Fault = Fault(maintained =
    t => t.copy(parts = t.parts.map(p => if (p.index % 10 == 7) p.copy(folders = Vector.empty, rows = 0) else p))
  )

  /** Late rows for a part of ten are ignored. */
  val Ignored: Fault =
    Fault(appended = t => t.copy(parts = t.parts.map(p => p.copy(stale = p.stale.filterNot(_.index % 10 == 7)))))

  /** Rows for a part of ten are appended twice. */
  val Doubled: Fault = Fault(again = parts => if (parts.exists(_ % 10 == 7)) 1 else 0)

  final case class Event(part: Long, g: String, v: Option[Int])

  /** A view, and its rows by the minute in which their part begins.
    *
    * @param of
    *   for the events, the first part and the last: the parts of the view, each with the events that it is about
    * @param isGrouped
    *   whether there is a row for each group, or one for each part
    */
  final case class Kind(
      name: String,
      statement: String,
      row: (String, Seq[Event]) => String,
      of: (Seq[Event], Long, Long) => Map[Long, Seq[Event]],
      isGrouped: Boolean = true
  ) {
    def right(all: Seq[Event], first: Long, last: Long): Map[Long, Seq[String]] =
      of(all, first, last).map { case (part, events) =>
        val groups = if (isGrouped) events.groupBy(_.g).toSeq else Seq("" -> events)
        part -> groups.map { case (g, of) => row(g, of) }.sorted
      }
  }

  private def sum(events: Seq[Event]): String = {
    val values = events.flatMap(_.v)
    if (values.isEmpty) "null" else values.map(_.toLong).sum.toString
  }

  private def summed(g: String, events: Seq[Event]) = s"$g|${sum(events)}|${events.length}"

  private def window(from: Int, wide: Int)(all: Seq[Event], first: Long, last: Long) = (first + from to last).map { p =>
    p -> all.filter(e => e.part > p - wide && e.part <= p)
  }.toMap

  private def both(name: String, first: String, next: String, length: Int = 60) =
    s"CREATE VIEW $name AS INITIALIZE $name[i] AS $first UPDATE $name[j] AS $next PARTITION LENGTH $length"

  private def same(name: String, query: String => String, length: Int = 60) = both(name, query("i"), query("j"), length)

  private def part(source: String, of: String = "sum(v)") = s"SELECT g, $of AS s, count(*) AS n FROM $source GROUP BY g"

  val Sums: Kind = Kind("Sums", same("Sums", j => part(s"M[$j]")), summed, window(0, 1))

  /** A sum of one part of fifty is wrong by one. */
  val WrongSum: Kind = {
    val wrong = "sum(v) + CASE WHEN max(unix_timestamp(PART_TIMESTAMP)) div 60 % 50 = 7 THEN 1 ELSE 0 END"
    Sums.copy(statement = same("Sums", j => part(s"M[$j]", wrong)))
  }

  private val running = Kind(
    "Total",
    both(
      "Total",
      part("M[i]"),
      "SELECT g, sum(s) AS s, sum(n) AS n FROM (SELECT g, CAST(v AS BIGINT) AS s, 1L AS n FROM M[j] UNION ALL SELECT g, s, n FROM Total[j-1]) GROUP BY g"
    ),
    summed,
    (all, first, last) => (first to last).map(p => p -> all.filter(_.part <= p)).toMap
  )

  private val everything = (_: String, events: Seq[Event]) => s"${sum(events)}|${events.length}"

  private val counted = Kind(
    "Count",
    same("Count", j => s"SELECT sum(v) AS s, count(*) AS n FROM M[$j]"),
    everything,
    window(0, 1),
    isGrouped = false
  )

  /** Over a view, so that it reads what parts of a gap share. */
  private val since = Kind(
    "Since",
    counted.statement + "; " + both(
      "Since",
      "SELECT s, n FROM Count[i]",
      "SELECT sum(s) AS s, sum(n) AS n FROM (SELECT s, n FROM Count[j] UNION ALL SELECT s, n FROM Since[j-1])"
    ),
    everything,
    running.of,
    isGrouped = false
  )

  private val merged = Kind(
    "Recent",
    Sums.statement + "; " +
      same("Recent", j => s"SELECT g, sum(s) AS s, sum(n) AS n FROM Sums[$j-2..$j] GROUP BY g"),
    summed,
    window(2, 3)
  )

  private val longer = Kind(
    "Longer",
    same("Longer", j => part(s"M[$j*3..$j*3+2]"), 180),
    summed,
    (all, first, last) =>
      (Math.floorDiv(first + 2, 3L) to Math.floorDiv(last - 2, 3L)).map { q =>
        q * 3 -> all.filter(e => Math.floorDiv(e.part, 3L) == q)
      }.toMap
  )

  private def translated(name: String, aggregates: String, row: (String, Seq[Event]) => String, from: Int) =
    Kind(
      name,
      s"CREATE VIEW $name AS SELECT g, $aggregates FROM M AS m [WINDOW 3 minutes] GROUP BY g",
      row,
      window(from, 3)
    )

  private val prefix = translated("Prefix", "sum(m.v) AS s, count(*) AS n", summed, 3)
  private val extreme = translated(
    "Extreme",
    "max(v) AS top, min(v) AS low",
    (g, of) => s"$g|${of.flatMap(_.v).maxOption.getOrElse("null")}|${of.flatMap(_.v).minOption.getOrElse("null")}",
    2
  )

  val Kinds: Vector[Kind] = Vector(Sums, running, counted, since, merged, longer, prefix, extreme)
}
