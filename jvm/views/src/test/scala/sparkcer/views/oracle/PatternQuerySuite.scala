package sparkcer.views.oracle

import scala.util.Random

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{LongType, StructField, StructType}

import sparkcer.internal.testkit.SparkSuite
import sparkcer.views.testkit.{MadeRows, PartWorld}
import sparkcer.views.translate.Translate

/** Patterns against an oracle that runs the state machine in memory, over random rows. */
class PatternQuerySuite extends SparkSuite {
  private def loss(row: Row): Option[Int] = Option(row.get(3)).map(_.asInstanceOf[Int])
  private def over(n: Int): (Map[Int, Row], Row) => Boolean = (_, row) => loss(row).exists(_ > n)
  private def one(c: (Map[Int, Row], Row) => Boolean) = PatternOracle.Variable(plus = false, c)
  private def more(c: (Map[Int, Row], Row) => Boolean) = PatternOracle.Variable(plus = true, c)

  /** Is the loss of the row larger than that of an earlier variable? */
  private def rises(from: Int): (Map[Int, Row], Row) => Boolean =
    (bound, row) => loss(row).exists(n => loss(bound(from)).exists(n > _))
  private def both(c: (Map[Int, Row], Row) => Boolean*): (Map[Int, Row], Row) => Boolean =
    (bound, row) => c.forall(_(bound, row))

  private case class Case(pattern: String, where: String, oracle: PatternOracle)

  private val cases = Seq(
    Case(
      "a, b, c, d+",
      "a.loss > 10 AND b.loss > 10 AND c.loss > 10 AND d.loss > 10",
      PatternOracle(Vector(one(over(10)), one(over(10)), one(over(10)), more(over(10))))
    ),
    Case("a, b+", "a.loss > 12 AND b.loss > 3", PatternOracle(Vector(one(over(12)), more(over(3))))),
    Case(
      "a+, b",
      "a.loss > 3 AND b.loss BETWEEN 0 AND 3",
      PatternOracle(Vector(more(over(3)), one((_, r) => loss(r).exists(_ <= 3))))
    ),
    Case("a, b", "a.loss > 3 AND b.loss > 3", PatternOracle(Vector(one(over(3)), one(over(3))))),
    Case("a+", "a.loss > 8", PatternOracle(Vector(more(over(8))))),
    Case("a", "(a.loss > 8)", PatternOracle(Vector(one(over(8))))),
    Case(
      "a, b, c",
      "b.loss > a.loss AND c.loss > b.loss",
      PatternOracle(Vector(one((_, _) => true), one(rises(0)), one(rises(1))))
    ),
    Case(
      "a, b+, c",
      "(a.loss > 2 AND b.loss > a.loss) AND c.loss <= a.loss",
      PatternOracle(Vector(one(over(2)), more(rises(0)), one((b, r) => loss(r).exists(n => loss(b(0)).exists(n <= _)))))
    ),
    Case(
      "a, b, c+",
      "a.loss > 2 AND (b.loss > 4 OR b.loss IS NULL) AND c.loss > a.loss AND c.loss > 5",
      PatternOracle(Vector(one(over(2)), one((_, r) => loss(r).forall(_ > 4)), more(both(rises(0), over(5)))))
    )
  )

  private def group(row: Row) = (row.getString(1), row.getInt(2))

  for ((c, seed) <- cases.zipWithIndex)
    test(s"PATTERN [${c.pattern}] WHERE ${c.where}") {
      val rng = new Random(seed)
      val parts = MadeRows.parts(rng, 30, most = 1, idle = 0.05)
      val world = new PartWorld(MadeRows.Length)
      world.table("M", MadeRows.Schema, parts)
      Translate(
        s"CREATE VIEW V AS SELECT $Aggregated FROM M PATTERN [${c.pattern}] WHERE ${c.where} GROUP BY g, h",
        world.source
      ).foreach(world.run)
      val all = parts.keys.toVector.sorted
      val groups = parts.values.flatten.map(group).toSet
      val expected = naive(for {
        g <- groups.toVector
        mine = parts.flatMap { case (p, rows) => rows.find(group(_) == g).map(p -> _) }
        (part, rows) <- c.oracle.matches(mine, all)
        row <- rows
      } yield Row.fromSeq(part +: row.toSeq))
      val found = world.parts("V").toVector.flatMap { case (p, rows) => rows.map(p -> _) }
      assert(expected.length > 3, "a case without matches proves nothing")
      assertEquals(found.map(_.toString).sorted, expected.map(_.toString).sorted)
    }

  /** The part of each match, and the SELECT of the query by the aggregates of Spark over the rows of the match. */
  private def naive(rows: Seq[Row]): Vector[(Long, Row)] = {
    val schema = StructType(StructField("part", LongType) +: MadeRows.Schema.fields)
    spark.createDataFrame(java.util.Arrays.asList(rows: _*), schema).createOrReplaceTempView("matched")
    spark
      .sql(s"SELECT part, $Aggregated FROM matched GROUP BY part, g, h")
      .collect()
      .map(r => (r.getLong(0), Row.fromSeq(r.toSeq.tail)))
      .toVector
  }

  private val Aggregated =
    "g, h, count(*) AS ct, sum(loss) AS s, sum(big % 1000) AS b, sum(dec) AS p, count(d), sum(d) AS sum_d, " +
      "min(loss), max(dec) AS top, avg(dec) AS mean, avg(loss) AS mean_loss"

  test("without groups there is one run") {
    val world = new PartWorld(MadeRows.Length)
    val rng = new Random(3)
    def row(part: Int, loss: Int) = {
      val r = MadeRows.row(rng, MadeRows.First + part, "a", 1).toSeq
      MadeRows.First + part -> Seq(Row.fromSeq(r.updated(3, loss)))
    }
    // The measurements of Section 2 of the ViewDF paper.
    world.table("M", MadeRows.Schema, Seq(6, 12, 15, 24, 20, 16, 7).zipWithIndex.map { case (l, i) => row(i, l) }.toMap)
    Translate(
      """CREATE VIEW View1 AS SELECT count(*) AS ct, sum(loss) AS sum_loss FROM M PATTERN [a, b, c, d+]
        |WHERE a.loss > 10 AND b.loss > 10 AND c.loss > 10 AND d.loss > 10""".stripMargin,
      world.source
    ).foreach(world.run)
    val found = world.parts("View1").filter(_._2.nonEmpty).map { case (p, rows) => (p - MadeRows.First, rows) }
    assertEquals(found, Map(4L -> Seq(Row(4L, 71L)), 5L -> Seq(Row(5L, 87L))))
  }

  test("HAVING, over aggregates, names and groups") {
    val parts = MadeRows.parts(new Random(8), 20, most = 1, idle = 0.01)
    def found(having: String) = {
      val world = new PartWorld(MadeRows.Length)
      world.table("M", MadeRows.Schema, parts)
      Translate(
        s"""CREATE VIEW V AS SELECT g, h, count(*) AS ct, sum(loss) / count(*) AS mean FROM M PATTERN [a, b+]
           |WHERE a.loss > 5 AND b.loss > 5 GROUP BY g, h $having""".stripMargin,
        world.source
      ).foreach(world.run)
      world.parts("V").toVector.flatMap { case (p, rows) => rows.map(p -> _) }
    }
    val kept = found("HAVING mean > 14 AND sum(loss) > 40 AND g IS NOT NULL")
    val expected = found("").filter { case (_, r) =>
      r.getDouble(3) > 14 && r.getDouble(3) * r.getLong(2) > 40.5 && r.getString(0) != null
    }
    assert(expected.nonEmpty)
    assertEquals(kept.map(_.toString).sorted, expected.map(_.toString).sorted)
  }
}
