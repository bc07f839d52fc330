package sparkcer.internal.unit

import org.apache.spark.sql.Row

import sparkcer.internal.rules.RuleMetrics
import sparkcer.internal.stream.RuleTally
import sparkcer.internal.testkit.SparkSuite

/** What the metrics of a set have of its rules. They are aggregates, so a batch has them, too. */
class RuleMetricsSuite extends SparkSuite {
  private val session = spark
  import session.implicits._

  /** What a bucket returns: numbers of rules, and names; a row of a match has none of them. */
  private type Told = (Option[Seq[Long]], Option[Seq[String]], Option[Seq[String]])
  private val Match: Told = (None, None, None)

  private def metrics(leftOut: Int, ids: Seq[String], told: Seq[Told]): Row = {
    val all = RuleMetrics(spark, leftOut, ids)
    told.toDF("rules", "begunAnew", "gone").repartition(3).agg(all.head, all.tail: _*).head()
  }

  private def rules(row: Row): Vector[(String, Seq[Long])] = row
    .getSeq[Row](1)
    .toVector
    .map(r => r.getString(0) -> (RuleTally.Names :+ "ms").map(r.getAs[Long](_)))

  test("the rules that took the most time come first, and no more than 20 are shown") {
    val ids = (0 until 50).map(i => f"r$i%02d").toVector
    def tally(did: (Int, Long)*): Told = {
      val t = new RuleTally(ids.length)
      did.foreach { case (rule, ms) =>
        (0 until RuleTally.Nanos).foreach(n => t.add(rule, n, n + 1L))
        t.add(rule, RuleTally.Nanos, ms * 1000000)
      }
      (Some(t.numbers.toSeq), None, None)
    }
    val costs = ids.indices.map(i => (i, (i * 37L) % 50 + 10))
    // One is cheap in each task and dear in all of them.
    val all = costs.grouped(7).map(tally(_: _*)).toVector ++ Vector.fill(40)(tally(0 -> 2L)) :+ Match
    val first = "r00" -> Seq(41L, 82L, 123L, 164L, 90L)
    val others =
      costs.filter(_._1 != 0).sortBy(-_._2).take(19).map { case (i, ms) => ids(i) -> Seq(1L, 2L, 3L, 4L, ms) }
    assertEquals(rules(metrics(0, ids, all)), first +: others.toVector)
  }

  test("rules that did nothing are not shown, and equal ones are in the order of their names") {
    val tally = new RuleTally(3)
    Seq(0, 2).foreach(tally.add(_, RuleTally.Nanos, 7))
    val row = metrics(4, Seq("z", "y", "x"), Seq((Some(tally.numbers.toSeq), None, None)))
    assertEquals(rules(row).map(_._1), Vector("x", "z"))
    assertEquals(row.getLong(0), 4L)
  }

  test("names are shown once, in order") {
    def lost(gone: String*): Told = (None, Some(Seq("begun")), Some(gone))
    val row = metrics(0, Seq("a"), Vector(lost("b", "a"), Match, lost("b"), lost(), lost("", "c", "b")))
    assertEquals(row.getSeq[String](2).toVector, Vector("begun"))
    assertEquals(row.getSeq[String](3).toVector, Vector("", "a", "b", "c"))
  }

  test("a micro-batch without counts tells of no rule") {
    val row = metrics(2, Seq("a"), Seq(Match))
    assertEquals(row, Row(2L, Nil, Nil, Nil))
  }
}
