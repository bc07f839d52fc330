package sparkcer.views

import scala.util.Random

import org.apache.spark.sql.Row

import sparkcer.spark.SparkSuite

/** Windows against the plain query over the window's rows, part by part. */
class WindowQuerySuite extends SparkSuite {
  private case class Case(select: String, window: Long, slide: Long, rest: String, subtracts: Boolean)

  private val Exact =
    "g, h, count(*) AS ct, count(loss) AS n, sum(loss) AS s, avg(loss) AS m, sum(dec) AS p, avg(dec) AS q"
  private val Grouped = "GROUP BY g, h"

  private val cases = Seq(
    Case("g, h, max(loss) AS m", 4, 1, Grouped, subtracts = false),
    Case("g, h, sum(loss) AS s", 4, 1, Grouped, subtracts = true),
    Case(Exact, 5, 1, Grouped, subtracts = true),
    Case(Exact, 6, 2, Grouped, subtracts = true),
    Case(Exact, 6, 4, Grouped, subtracts = true),
    Case(Exact, 3, 3, Grouped, subtracts = false),
    Case(Exact, 2, 4, Grouped, subtracts = false),
    Case(s"$Exact, min(d) AS low, max(dec) AS high", 6, 4, Grouped, subtracts = false),
    Case("g, h, sum(d) AS s, avg(d) AS m, count(d) AS n", 5, 1, Grouped, subtracts = false),
    Case(
      "h, sum(loss * 2 + h) AS s, count(*) AS ct",
      5,
      1,
      "WHERE loss > 3 AND g IS NOT NULL GROUP BY h",
      subtracts = true
    ),
    Case("g, h, sum(loss) AS s", 5, 1, s"$Grouped HAVING s > 40 AND count(*) < 8 AND h = 1", subtracts = true),
    Case("g, h, max(loss) AS s", 5, 1, s"$Grouped HAVING s > 15 AND count(*) < 8", subtracts = false),
    Case("count(*) AS ct, sum(loss) AS s", 3, 1, "WHERE loss > 20", subtracts = true),
    Case("count(*) AS ct, max(loss) AS s", 3, 1, "WHERE loss > 20", subtracts = false),
    Case("g, avg(big) AS m", 5, 1, "GROUP BY g", subtracts = true),
    Case("g, sum(big) AS s", 3, 1, "GROUP BY g", subtracts = true)
  )

  for ((c, seed) <- cases.zipWithIndex)
    test(s"SELECT ${c.select} [WINDOW ${c.window} SLIDE ${c.slide}] ${c.rest}") {
      // The sums of big over all parts do not fit into a BIGINT, those of a window do.
      val parts = MadeRows.parts(new Random(seed), 28, most = 2)
      val world = new PartWorld(spark, MadeRows.Length)
      world.table("M", MadeRows.Schema, parts)
      val slide = if (c.slide == 1) "" else s" SLIDE ${c.slide} minutes"
      val made =
        Translate(
          s"CREATE VIEW V AS SELECT ${c.select} FROM M [WINDOW ${c.window} minutes$slide] ${c.rest}",
          world.source
        )
      assertEquals(made.head.contains("UNION ALL"), c.subtracts)
      made.foreach(world.run)
      val found = world.parts("V")
      assert(found.size > 4, "too few windows")
      for ((part, rows) <- found) {
        val last = (part + 1) * c.slide - 1
        val inside = (last - c.window + 1 to last).flatMap(parts)
        spark.createDataFrame(java.util.Arrays.asList(inside: _*), MadeRows.Schema).createOrReplaceTempView("M")
        val naive = spark.sql(s"SELECT ${c.select} FROM M ${c.rest}").collect().toSeq
        assertEquals(rows.map(rounded).sorted, naive.map(rounded).sorted, s"part $part")
      }
      assert(found.values.exists(_.nonEmpty))
    }

  /** Averages of BIGINT are exact here and rounded in Spark. */
  private def rounded(row: Row): String = row.toSeq
    .map {
      case d: Double => f"$d%.12e"
      case other     => String.valueOf(other)
    }
    .mkString(", ")

  test("the types are those of the plain query") {
    val world = new PartWorld(spark, MadeRows.Length)
    world.table("M", MadeRows.Schema, MadeRows.parts(new Random(1), 12, most = 2))
    spark.createDataFrame(java.util.List.of[Row](), MadeRows.Schema).createOrReplaceTempView("M")
    for (more <- Seq("", ", max(dec) AS top")) {
      val select = "g, count(*) AS ct, sum(loss) AS a, sum(big) AS b, sum(dec) AS c, avg(loss) AS e, avg(dec) AS f"
      val made = Translate(s"CREATE VIEW V AS SELECT $select$more FROM M [WINDOW 3 minutes] GROUP BY g", world.source)
      val again = new PartWorld(spark, MadeRows.Length)
      again.table("M", MadeRows.Schema, world.parts("M"))
      made.foreach(again.run)
      assertEquals(
        again.source("V").get.schema.map(f => f.name -> f.dataType),
        spark.sql(s"SELECT $select$more FROM M GROUP BY g").schema.map(f => f.name -> f.dataType)
      )
    }
  }

  test("a group that was silent for a window is not in the prefix sums") {
    val rng = new Random(4)
    val First = MadeRows.First
    val world = new PartWorld(spark, MadeRows.Length)
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
}
