package sparkcer.views.testkit

import java.nio.file.{Files, Paths}
import java.sql.Timestamp
import java.util.concurrent.atomic.AtomicInteger

import scala.jdk.CollectionConverters._
import scala.util.{Random, Try}

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.StructType

import sparkcer.views.Views
import sparkcer.views.catalog.{CatalogFiles, Table}
import sparkcer.views.maintain.{OutsideTables, QueryRunner, TableSink}
import sparkcer.views.store.Storage

/** A case: random steps on a table with a view, and often a second one. Rows arrive in appends and in micro-batches,
  * new ones, late ones, and after gaps; the views are maintained, opened again, replaced, rolled up and repaired after
  * files were lost; parts are dropped; a table outside of the folder changes, and makes a view fail. At the end, each
  * view has to have the parts and the rows of its definition, computed from all rows at once.
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
  private val kinds =
    Vector(kind) ++ Some(fault.sums).filter(_ => !kind.statement.contains(s" ${Sums.name}") && rng.nextBoolean())
  private var v = shared
  private var all = Vector.empty[Event]
  private var last = first
  // Micro-batches: the largest time seen, and their number.
  private var seen = Long.MinValue
  private var batch = 0L
  // Late rows only where no part that is computed from them needs a dropped one.
  private var oldest = first
  private var factor = 1

  /** Can the planted error change what this case finds? */
  def isAffected: Boolean = kinds.exists(fault.affects)

  /** What differs from the definition. */
  def run(): Option[String] = {
    change(1)
    v.createTable(own("M"), "t TIMESTAMP, g STRING, v INT", "t", "60")
    kinds.foreach(k => v.sql(own(k.statement)))
    append(first +: Vector.fill(4)(first + rng.nextInt(5)))
    (0 until 2 + rng.nextInt(2)).foreach(_ => step())
    if (oldest == first) change(if (factor == 2) 3 else 2)
    // What is still open is complete now.
    append(Vector(all.map(_.part).max.max(oldest)))
    val failed = maintain().collect().filter(_.getAs[String]("action") == "failed")
    val wrong = kinds.flatMap { k =>
      val (found, right) = (contents(own(k.name)), k.right(all.map(_.copy(factor = factor)), first, last))
      if (found != right) Some(s"${k.name}: $found is not $right") else None
    }
    v.drop(own("M"), cascade = true)
    if (failed.nonEmpty) Some(s"failed: ${failed.mkString(", ")}") else wrong.headOption
  }

  private def step(): Unit = {
    if (rng.nextInt(10) == 0) v = Views.open(PartWorld.spark, Folder)
    rng.nextInt(16) match {
      case 0 => maintain(): Unit
      case 1 => v.rollUp(own(if (rng.nextBoolean()) "M" else kind.name), time(last), "6 minutes"): Unit
      case 2 => drop()
      case 3 => repair()
      case 4 =>
        if (oldest == first)
          kinds.foreach(k => v.sql(own(k.statement).replace("CREATE VIEW", "CREATE OR REPLACE VIEW")))
      case 5 | 6        => if (kind.outside && oldest == first) change(rng.nextInt(4)) else append(some())
      case n if n <= 10 => sink(some())
      case _            =>
        append(some())
        if (rng.nextBoolean()) maintain(): Unit
    }
  }

  /** Parts of new and of late rows, sometimes after a gap. */
  private def some(): Vector[Long] = {
    val gap = if (rng.nextInt(4) == 0) 5 else 2
    Vector.fill(1 + rng.nextInt(4))(oldest + rng.nextInt((last - oldest).toInt.max(0) + 1 + gap))
  }

  private def maintain() = {
    val report = v.maintain()
    spoil(fault.maintained)
    report
  }

  /** Drops old parts of the table, if no view needs them. */
  private def drop(): Unit = {
    maintain(): Unit
    val before = first + rng.nextInt((last - first).toInt + 1)
    if (factor > 0 && Try(v.dropParts(own("M"), time(before))).toOption.exists(_.nonEmpty))
      oldest = oldest.max(before + 2)
  }

  /** A file of a view is lost, and computed again. */
  private def repair(): Unit = if (oldest == first && factor > 0) {
    maintain(): Unit
    val folder = Paths.get(Folder, own(kind.name))
    if (Files.exists(folder)) {
      val walk = Files.walk(folder)
      val files =
        try walk.iterator.asScala.filter(_.toString.endsWith(".parquet")).toVector.sorted
        finally walk.close()
      if (files.nonEmpty) Files.delete(files(rng.nextInt(files.length)))
    }
    v.repair(): Unit
  }

  /** The table outside of the folder. With a factor of zero, the view fails. */
  private def change(to: Int): Unit = if (kind.outside) {
    val isNew = all.isEmpty
    factor = to
    PartWorld.spark.sql(s"SELECT $to AS f").createOrReplaceTempView(own("outside"))
    if (!isNew) {
      if (fault.told.isEmpty) v.maintain(changed = own("outside")): Unit
      else {
        val queries = new QueryRunner(PartWorld.spark, new Storage(PartWorld.spark, new Path(Folder)))
        new OutsideTables(PartWorld.spark, catalog, queries).changed(own("outside"))
        fault.told.foreach(spoil)
        v.maintain(): Unit
      }
      spoil(fault.maintained)
    }
  }

  private def spoil(change: Table => Table): Unit = if (fault ne NoFault)
    catalog.commit((c, _) => (kinds.foldLeft(c)((d, k) => d.updated(change(d(own(k.name))))), ()))

  private def own(text: String) = Names.replaceAllIn(text, m => s"${m.matched}$number")

  private def time(part: Long) = new Timestamp(part * 60000)

  private def append(parts: Vector[Long]): Unit = {
    val rows = made(parts)
    last = last.max(parts.max)
    val name = if (rng.nextBoolean()) None else Some(s"batch${all.length}")
    v.append(own("M"), rows, batch = name)
    if (name.isDefined || fault.again(parts)) v.append(own("M"), rows, batch = name.filterNot(_ => fault.again(parts)))
    spoil(fault.appended)
  }

  /** A micro-batch, which Spark sometimes runs again. */
  private def sink(parts: Vector[Long]): Unit = {
    val rows = made(parts)
    val delay = rng.nextInt(3)
    seen = seen.max(rows.collect().map(_.getTimestamp(0).getTime).max)
    last = last.max(Math.floorDiv(seen - delay * 60000, 60000L) - 1)
    val context = PartWorld.spark.sparkContext
    context.setLocalProperty(TableSink.QueryId, s"query$number")
    try (0 to rng.nextInt(2)).foreach(_ => v.sink(own("M"), s"$delay minutes")(rows, batch))
    finally context.setLocalProperty(TableSink.QueryId, null)
    batch += 1
    spoil(fault.appended)
  }

  private def made(parts: Vector[Long]) = {
    val rows = parts.map { p =>
      Event(p, Seq("a", "b", null)(rng.nextInt(3)), if (rng.nextInt(6) == 0) None else Some(rng.nextInt(100) - 50))
    }
    all ++= rows
    PartWorld.frame(
      rows.map(e => Row(new Timestamp(e.part * 60000 + rng.nextInt(60000)), e.g, e.v.map(Int.box).orNull)),
      Schema
    )
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
  private val Names = """\b(M|Sums|Total|Count|Since|Recent|Longer|Prefix|Extreme|Priced|outside)\b""".r
  private lazy val Folder = TestFolders.make("random")
  private lazy val catalog = new CatalogFiles(new Path(Folder), PartWorld.spark.sparkContext.hadoopConfiguration)
  private lazy val shared = Views.open(PartWorld.spark, Folder)
  private val Base = 23667840L // 2015-01-01 00:00, a multiple of all lengths

  /** An error that is planted in the work of the maintainer.
    *
    * @param sums
    *   stands for the kind with sums
    * @param affects
    *   the kinds in which it can be seen
    * @param again
    *   whether rows for these parts are appended once more
    * @param appended
    *   what it does to the view after rows were appended
    * @param maintained
    *   what it does to the view after it was maintained
    * @param told
    *   what it does to the view after the change of a table outside was told
    */
  final case class Fault(
      sums: Kind = Sums,
      affects: Kind => Boolean = _ => true,
      again: Vector[Long] => Boolean = _ => false,
      appended: Table => Table = identity,
      maintained: Table => Table = identity,
      told: Option[Table => Table] = None
  )

  lazy val NoFault: Fault = Fault()

  /** A part of ten is skipped: it is there, without rows. */
  lazy val Skipped: Fault = Fault(maintained =
    t => t.copy(parts = t.parts.map(p => if (p.index % 10 == 7) p.copy(folders = Vector.empty, rows = 0) else p))
  )

  /** Late rows for a part of ten are ignored. */
  lazy val Ignored: Fault =
    Fault(appended = t => t.copy(parts = t.parts.map(p => p.copy(stale = p.stale.filterNot(_.index % 10 == 7)))))

  /** A change outside is not heeded in a part of ten. */
  lazy val Unheeded: Fault = Fault(
    affects = _.outside,
    told = Some(t => t.copy(parts = t.parts.map(p => if (p.index % 10 == 7) p.copy(reasons = Vector.empty) else p)))
  )

  /** Rows for a part of ten are appended twice. */
  lazy val Doubled: Fault = Fault(again = _.exists(_ % 10 == 7))

  /** A sum of one part of fifty is wrong by one. */
  lazy val WrongSum: Fault = {
    val wrong = "sum(v) + CASE WHEN max(unix_timestamp(PART_TIMESTAMP)) div 60 % 50 = 7 THEN 1 ELSE 0 END"
    Fault(sums = Sums.copy(statement = same("Sums", j => part(s"M[$j]", wrong))), affects = _.name == Sums.name)
  }

  /** @param factor
    *   of the table outside of the folder
    */
  final case class Event(part: Long, g: String, v: Option[Int], factor: Int = 1)

  /** A view, and its rows by the minute in which their part begins.
    *
    * @param of
    *   for the events, the first part and the last: the parts of the view, each with the events that it is about
    * @param isGrouped
    *   whether there is a row for each group, or one for each part
    * @param outside
    *   whether it reads the table outside of the folder
    */
  final case class Kind(
      name: String,
      statement: String,
      row: (String, Seq[Event]) => String,
      of: (Seq[Event], Long, Long) => Map[Long, Seq[Event]],
      isGrouped: Boolean = true,
      outside: Boolean = false
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

  private val priced = Kind(
    "Priced",
    same(
      "Priced",
      j =>
        s"SELECT g, sum(v * if(f > 0, f, raise_error('none'))) AS s, count(*) AS n FROM M[$j] CROSS JOIN outside GROUP BY g"
    ),
    (g, of) => summed(g, of.map(e => e.copy(v = e.v.map(_ * e.factor)))),
    window(0, 1),
    outside = true
  )

  val Kinds: Vector[Kind] = Vector(Sums, running, counted, since, merged, longer, prefix, extreme, priced)
}
