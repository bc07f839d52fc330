package sparkcer.views.oracle

import scala.util.Random

import org.apache.spark.sql.Row

import sparkcer._
import sparkcer.internal.testkit.SparkSuite
import sparkcer.views.testkit.{MadeRows, PartWorld}
import sparkcer.views.translate.Translate

/** A pattern as a view, and the same pattern as CEQL, with `:`, SELECT MAX and PARTITION BY the group. Both find the
  * same if each group has one row in each part, and if a row can be bound in only one way: all variables have the same
  * condition and the last has a `+`, or no row meets two conditions.
  */
class PatternCeqlSuite extends SparkSuite {
  private case class Found(part: Long, g: String, h: Int, count: Long, sum: Option[Long])

  private case class Variable(name: String, plus: Boolean, condition: String) {
    def inView: String = if (plus) s"$name+" else name
    def inCeql: String = s"M${if (plus) ":+" else ""} AS $name"
  }

  private def view(variables: Seq[Variable], parts: Map[Long, Seq[Row]]): Set[Found] = {
    val world = new PartWorld(MadeRows.Length)
    world.table("M", MadeRows.Schema, parts)
    Translate(
      s"""CREATE VIEW V AS SELECT g, h, count(*) AS ct, sum(loss) AS s FROM M PATTERN [${variables
          .map(_.inView)
          .mkString(", ")}]
         |WHERE ${variables.map(v => s"${v.name}.${v.condition}").mkString(" AND ")} GROUP BY g, h""".stripMargin,
      world.source
    ).foreach(world.run)
    world.parts("V").toVector.flatMap { case (p, rows) => rows.map(found(p, _)) }.toSet
  }

  private def ceql(variables: Seq[Variable], parts: Map[Long, Seq[Row]]): Set[Found] = {
    val query = s"SELECT MAX run FROM M WHERE (${variables.map(_.inCeql).mkString(" : ")}) AS run " +
      s"FILTER ${variables.map(v => s"${v.name}[${v.condition}]").mkString(" AND ")} PARTITION BY [g, h]"
    spark
      .createDataFrame(java.util.Arrays.asList(parts.values.flatten.toSeq: _*), MadeRows.Schema)
      .cer(query, time = "t")
      .selectExpr(
        "unix_seconds(end) div 60 AS part",
        "g",
        "h",
        "CAST(size(run) AS BIGINT) AS ct",
        "aggregate(run.loss, CAST(NULL AS BIGINT), (s, x) -> coalesce(s + x, s, x)) AS s"
      )
      .collect()
      .map(r => found(r.getLong(0), Row.fromSeq(r.toSeq.tail)))
      .toSet
  }

  private def found(part: Long, r: Row): Found =
    Found(part, r.getString(0), r.getInt(1), r.getLong(2), if (r.isNullAt(3)) None else Some(r.getLong(3)))

  private def known(parts: Map[Long, Seq[Row]]) = parts.map { case (p, rows) => p -> rows.filterNot(_.isNullAt(1)) }

  for (seed <- 1 to 6)
    test(s"the same runs by both ($seed)") {
      val rng = new Random(seed)
      val length = 1 + rng.nextInt(4)
      // All variables have the same condition, or each has its own range of values.
      val variables =
        if (seed % 2 == 0) Seq.tabulate(length)(i => Variable(s"v$i", plus = i == length - 1, "loss > 8"))
        else {
          val cuts = Seq.tabulate(length + 1)(_ * 25 / length)
          Seq.tabulate(length)(i =>
            Variable(s"v$i", rng.nextBoolean(), s"loss BETWEEN ${cuts(i)} AND ${cuts(i + 1) - 1}")
          )
        }
      val parts = known(MadeRows.parts(rng, 40, most = 1, idle = 0))
      val byView = view(variables, parts)
      assert(byView.nonEmpty)
      assertEquals(byView, ceql(variables, parts))
    }

  private def one(losses: Seq[Option[Int]]): Map[Long, Seq[Row]] = {
    val rng = new Random(0)
    losses.zipWithIndex.map { case (loss, i) =>
      val part = MadeRows.First + i
      part -> loss.toSeq.map(l => Row.fromSeq(MadeRows.row(rng, part, "a", 1).toSeq.updated(3, l)))
    }.toMap
  }

  private val twoHigh = Seq(Variable("a", plus = false, "loss > 10"), Variable("b", plus = false, "loss > 10"))
  private def at(i: Int, count: Long, sum: Long) = Found(MadeRows.First + i, "a", 1, count, Some(sum))

  test("they differ: a row that ended a match does not begin the next one") {
    val rows = one(Seq(Some(12), Some(15), Some(20)))
    assertEquals(view(twoHigh, rows), Set(at(1, 2, 27)))
    assertEquals(ceql(twoHigh, rows), Set(at(1, 2, 27), at(2, 2, 35)))
  }

  test("they differ: a part without a row of the group ends its run") {
    val rows = one(Seq(Some(12), None, Some(20)))
    assertEquals(view(twoHigh, rows), Set.empty[Found])
    assertEquals(ceql(twoHigh, rows), Set(at(2, 2, 32)))
  }
}
