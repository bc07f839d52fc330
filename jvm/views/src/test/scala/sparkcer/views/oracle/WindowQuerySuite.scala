package sparkcer.views.oracle

import scala.util.Random

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{LongType, StructField, StructType}

import sparkcer.internal.testkit.SparkSuite
import sparkcer.views.testkit.{MadeRows, PartWorld}
import sparkcer.views.translate.{Extremes, MergedPanes, PrefixSums, Translate, ViewQuery, WindowForm, WindowQuery}

/** Windows against the plain query over the rows of each window. */
class WindowQuerySuite extends SparkSuite {
  private case class Case(select: String, window: Long, slide: Long, rest: String, form: Class[_ <: WindowForm])

  private val Exact =
    "g, h, count(*) AS ct, count(loss) AS n, sum(loss) AS s, avg(loss) AS m, sum(dec) AS p, avg(dec) AS q"
  private val Grouped = "GROUP BY g, h"

  private val Merged = classOf[MergedPanes]
  private val Sums = classOf[PrefixSums]
  private val Largest = classOf[Extremes]

  private val cases = Seq(
    Case("g, h, max(loss) AS m", 4, 1, Grouped, Largest),
    Case("g, h, max(loss) AS m, min(loss) AS l, max(d) AS t, min(dec) AS n", 6, 1, Grouped, Largest),
    Case("h, min(g) AS first, max(g) AS last", 5, 1, "GROUP BY h", Largest),
    Case("g, h, max(loss) AS m, min(d) AS l", 6, 4, Grouped, Largest),
    Case("max(loss) AS m, min(d) AS l", 4, 1, "WHERE loss > 20", Largest),
    Case("g, max(loss) AS s", 5, 1, "WHERE h = 1 GROUP BY g HAVING s > 15 AND min(loss) < 9", Largest),
    Case("g, h, sum(loss) AS s", 4, 1, Grouped, Sums),
    Case(Exact, 5, 1, Grouped, Sums),
    Case(Exact, 6, 2, Grouped, Sums),
    Case(Exact, 6, 4, Grouped, Sums),
    Case(Exact, 3, 3, Grouped, Merged),
    Case(Exact, 2, 4, Grouped, Merged),
    Case(s"$Exact, min(d) AS low, max(dec) AS high", 6, 4, Grouped, Merged),
    Case("g, h, sum(d) AS s, avg(d) AS m, count(d) AS n", 5, 1, Grouped, Merged),
    Case(
      "h, sum(loss * 2 + h) AS s, count(*) AS ct",
      5,
      1,
      "WHERE loss > 3 AND g IS NOT NULL GROUP BY h",
      Sums
    ),
    Case("g, h, sum(loss) AS s", 5, 1, s"$Grouped HAVING s > 40 AND count(*) < 8 AND h = 1", Sums),
    Case("g, h, max(loss) AS s", 5, 1, s"$Grouped HAVING s > 15 AND count(*) < 8", Merged),
    Case("count(*) AS ct, sum(loss) AS s", 3, 1, "WHERE loss > 20", Sums),
    Case("count(*) AS ct, max(loss) AS s", 3, 1, "WHERE loss > 20", Merged),
    Case("g, avg(big) AS m", 5, 1, "GROUP BY g", Sums),
    Case("g, sum(big) AS s", 3, 1, "GROUP BY g", Sums)
  )

  for ((c, seed) <- cases.zipWithIndex)
    test(s"SELECT ${c.select} [WINDOW ${c.window} SLIDE ${c.slide}] ${c.rest}") {
      // The sums of big over all parts do not fit into a BIGINT, those of a window do.
      val many = c.slide > 1 || c.rest.contains("HAVING")
      val parts = MadeRows.parts(new Random(seed), if (many) 28 else 18, most = 2)
      val world = new PartWorld(MadeRows.Length)
      world.table("M", MadeRows.Schema, parts)
      val slide = if (c.slide == 1) "" else s" SLIDE ${c.slide} minutes"
      val statement = s"CREATE VIEW V AS SELECT ${c.select} FROM M [WINDOW ${c.window} minutes$slide] ${c.rest}"
      assert(c.form.isInstance(WindowQuery.form(ViewQuery(statement, world.source))))
      Translate(statement, world.source).foreach(world.run)
      val found = world.parts("V")
      assert(found.size > 4, "too few windows")
      val expected = naive(
        c,
        found.keys.map { part =>
          val last = (part + 1) * c.slide - 1
          part -> (last - c.window + 1 to last).flatMap(parts)
        }.toMap
      )
      found.foreach { case (part, rows) => assertEquals(rows.map(rounded).sorted, expected(part), s"part $part") }
      assert(found.values.exists(_.nonEmpty))
    }

  /** The plain query over the rows of each window. All windows are in one query, grouped by their part as well. */
  private def naive(c: Case, windows: Map[Long, Seq[Row]]): Map[Long, Seq[String]] = {
    val schema = StructType(StructField("part", LongType) +: MadeRows.Schema.fields)
    val rows = for ((part, inside) <- windows.toSeq; row <- inside) yield Row.fromSeq(part +: row.toSeq)
    PartWorld.frame(rows, schema).createOrReplaceTempView("windows")
    val byPart =
      if (c.rest.contains("GROUP BY")) c.rest.replace("GROUP BY", "GROUP BY part,") else s"${c.rest} GROUP BY part"
    val found = PartWorld.spark
      .sql(s"SELECT part, ${c.select} FROM windows $byPart")
      .collect()
      .toSeq
      .groupMap(_.getLong(0))(r => rounded(Row.fromSeq(r.toSeq.tail)))
    // Without rows that meet WHERE, the plain query has one row, or none if it has GROUP BY.
    val empty = PartWorld.spark.sql(s"SELECT ${c.select} FROM (SELECT * FROM windows LIMIT 0) ${c.rest}").collect()
    windows.keys.map(part => part -> found.getOrElse(part, empty.toSeq.map(rounded)).sorted).toMap
  }

  /** Averages of BIGINT are exact here and rounded in Spark. */
  private def rounded(row: Row): String = row.toSeq
    .map {
      case d: Double => f"$d%.12e"
      case other     => String.valueOf(other)
    }
    .mkString(", ")

  test("the types are those of the plain query") {
    val world = new PartWorld(MadeRows.Length)
    world.table("M", MadeRows.Schema, MadeRows.parts(new Random(1), 12, most = 2))
    spark.createDataFrame(java.util.List.of[Row](), MadeRows.Schema).createOrReplaceTempView("M")
    for (more <- Seq("", ", max(dec) AS top")) {
      val select = "g, count(*) AS ct, sum(loss) AS a, sum(big) AS b, sum(dec) AS c, avg(loss) AS e, avg(dec) AS f"
      val made = Translate(s"CREATE VIEW V AS SELECT $select$more FROM M [WINDOW 3 minutes] GROUP BY g", world.source)
      val again = new PartWorld(MadeRows.Length)
      again.table("M", MadeRows.Schema, world.parts("M"))
      made.foreach(again.run)
      assertEquals(
        again.source("V").get.schema.map(f => f.name -> f.dataType),
        spark.sql(s"SELECT $select$more FROM M GROUP BY g").schema.map(f => f.name -> f.dataType)
      )
    }
  }

  test("a group that was idle for a window is not in the prefix sums") {
    val rng = new Random(4)
    val First = MadeRows.First
    val world = new PartWorld(MadeRows.Length)
    val seen = Set(0, 1, 7, 8)
    world.table(
      "M",
      MadeRows.Schema,
      (0 to 12).map(p => First + p -> (if (seen(p)) Seq(MadeRows.row(rng, First + p, "a", 1)) else Nil)).toMap
    )
    Translate("CREATE VIEW V AS SELECT g, count(*) AS ct FROM M [WINDOW 3 minutes] GROUP BY g", world.source)
      .foreach(world.run)
    def counts(view: String) = (0 to 12).map(p => world.parts(view).get(First + p).map(_.map(_.getLong(1)).sum))
    assertEquals(
      counts("V_helper").flatten,
      Vector[Long](1, 2, 2, 2, 0, 0, 0, 1, 2, 2, 2, 0, 0)
    )
    assertEquals(counts("V").flatten, Vector[Long](1, 0, 0, 0, 1, 2, 2, 1, 0, 0))
  }

  test("a pane that a later one has reached is not kept") {
    val rng = new Random(4)
    val First = MadeRows.First
    val losses = Seq(9, 7, 8, 8, 3, 1, 2, 9, 5)
    val world = new PartWorld(MadeRows.Length)
    world.table(
      "M",
      MadeRows.Schema,
      losses.zipWithIndex.map { case (loss, p) =>
        val row = MadeRows.row(rng, First + p, "a", 1).toSeq.updated(MadeRows.Schema.fieldIndex("loss"), loss)
        First + p -> Seq(Row.fromSeq(row))
      }.toMap
    )
    Translate("CREATE VIEW V AS SELECT g, max(loss) AS m FROM M [WINDOW 5 minutes] GROUP BY g", world.source)
      .foreach(world.run)
    def values(view: String) =
      losses.indices.flatMap(p => world.parts(view).get(First + p).map(_.map(_.getInt(1)).sorted.reverse))
    assertEquals(
      values("V_helper"),
      Vector(Seq(9), Seq(9, 7), Seq(9, 8), Seq(9, 8), Seq(9, 8, 3), Seq(8, 3, 1), Seq(8, 3, 2), Seq(9), Seq(9, 5))
    )
    assertEquals(values("V"), Vector(Seq(9), Seq(8), Seq(8), Seq(9), Seq(9)))
  }
}
