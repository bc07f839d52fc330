package sparkcer.internal.unit

import org.apache.spark.sql.{DataFrame, Dataset, Row}
import org.apache.spark.sql.cerbridge.CerRuntimeException

import sparkcer._
import sparkcer.internal.testkit.SparkSuite

/** What one bad rule of a set does to the others: it returns less and says so, or fails and is named. */
class RuleLimitsSuite extends SparkSuite {
  private val session = spark
  import session.implicits._

  private val many = (0 until 25).map(i => ("A", i, "x")).toDF("type", "t", "k")

  private def ids(found: DataFrame): Vector[String] = found.select("match_id").as[String].collect().toVector

  private def truncated(found: DataFrame): Dataset[Row] = found.where("truncated")

  /** The error of spark-cer, wherever in the chain of causes it is. */
  private def failure(body: => Any): String = {
    val all = Iterator.iterate[Throwable](intercept[Exception](body))(_.getCause).takeWhile(_ != null).toVector
    all.find(_.isInstanceOf[CerRuntimeException]).getOrElse(all.last).getMessage
  }

  /** With the times of the events of a match. */
  private val strategies = Seq(
    ("all", "SELECT * FROM S WHERE (A AS a ; A AS b ; A AS c ; A AS d) WITHIN 100 [t]", "array(a.t, b.t, c.t, d.t)"),
    ("max", "SELECT MAX * FROM S WHERE A{3,4} AS a WITHIN 100 [t]", "a.t"),
    (
      "distinct",
      "SELECT DISTINCT b, c, d, e FROM S WHERE (A ; A AS b ; A AS c ; A AS d ; A AS e) WITHIN 100 [t]",
      "array(b.t, c.t, d.t, e.t)"
    ),
    (
      "comparing",
      "SELECT * FROM S WHERE (A AS a ; A AS b ; A AS c ; A AS d) FILTER a.k = b.k WITHIN 100 [t]",
      "array(a.t, b.t, c.t, d.t)"
    )
  )

  for ((name, query, times) <- strategies)
    test(s"a rule returns 1,000 matches of an event, those that LIMIT 1000 returns: $name") {
      val found = many.cerRules(Map(name -> query, "few" -> "SELECT * FROM S WHERE A"), time = "t").cache()
      val own = found.where(s"rule_id = '$name'")
      def shown(df: DataFrame, times: String) = df.selectExpr("start", times).as[(Int, Seq[Int])].collect().toSet
      assertEquals(shown(own, "events.event.t"), shown(many.cer(s"$query LIMIT 1000", time = "t"), times))
      val alone = many.cer(query, time = "t").cache()
      assertEquals(ids(own).toSet -- ids(alone), Set.empty[String])
      val all = alone.groupBy("end").count().as[(Int, Long)].collect().toMap
      val over = all.collect { case (end, n) if n > 1000 => end }.toVector.sorted
      assert(over.nonEmpty && over.size < all.size, all)
      assertEquals(truncated(found).select("end").as[Int].collect().toVector.sorted, over)
      assertEquals(found.where("rule_id = 'few'").count(), 25L)
      Seq(found, alone).foreach(_.unpersist(): Unit)
    }

  test("exactly 1,000 matches are not truncated") {
    // The last event closes a match with each of 1,000 before it.
    val df = (0 to 1000).map(i => (if (i < 1000) "A" else "B", i)).toDF("type", "t")
    val found = df.cerRules(Map("r" -> "SELECT * FROM S WHERE (A AS a ; B AS b) WITHIN 2000 [t]"), time = "t")
    assertEquals((found.count(), truncated(found).count()), (1000L, 0L))
  }

  test("the 1,000 matches are those that HAVING keeps") {
    val query = "SELECT * FROM S WHERE (A AS a ; A AS b ; A AS c ; A AS d) WITHIN 100 [t] "
    // The first keeps few of many, the second more than 1,000.
    for (having <- Seq("HAVING sum(a.t) = 7", "HAVING sum(a.t) < 9")) {
      val all = many.cer(query + having, time = "t").groupBy("end").count().as[(Int, Long)].collect().toMap
      val found = many.cerRules(Map("r" -> (query + having)), time = "t")
      val shown = found.groupBy("end").count().as[(Int, Long)].collect().toMap
      assertEquals(shown, all.map { case (end, n) => end -> math.min(n, 1000L) })
      val over = all.collect { case (end, n) if n > 1000 => end }.toVector.sorted
      assertEquals(truncated(found).select("end").as[Int].collect().toVector.sorted, over)
      assertEquals(over.isEmpty, having.contains("= 7"))
    }
  }

  test("spark.cer.maxMatchesPerEvent does not stop a set for a rule without LIMIT") {
    val query = "SELECT * FROM S WHERE (A AS a ; A AS b) WITHIN 100 [t]"
    withConf("spark.cer.maxMatchesPerEvent" -> "10") {
      val found = many.cerRules(Map("r" -> query), time = "t")
      assertEquals(found.where("end = 24").count(), 10L)
      assertEquals(truncated(found).count(), 14L)
      // What HAVING leaves out is looked at as in a query alone.
      val text = failure(many.cerRules(Map("r" -> s"$query HAVING sum(a.t) < 0"), time = "t").collect())
      assert(text.startsWith("[CER_RULES] Rule 'r' fails: [CER_TOO_MANY_MATCHES] "), text)
    }
  }

  test("a count that does not fit is the largest number, and truncated") {
    val df = (0 to 70).map(i => (if (i < 70) "A" else "B", i)).toDF("type", "t")
    val query = "SELECT COUNT(*) FROM S WHERE A+ ; B WITHIN 100 [t]"
    val rules = Map("count" -> query, "large" -> s"$query HAVING matches > 5", "few" -> s"$query HAVING matches < 5")
    val found = df.cerRules(rules, time = "t").select("rule_id", "matches", "truncated")
    assertEquals(
      found.as[(String, Long, Boolean)].collect().toSet,
      Set(("count", Long.MaxValue, true), ("large", Long.MaxValue, true))
    )
  }

  test("a rule that fails at an event is named") {
    val df = Seq(("A", 1, 4, 2), ("A", 2, 4, 0)).toDF("type", "t", "amount", "qty")
    def said(rules: (String, String)*) = failure(df.cerRules(rules.toMap, time = "t").collect())
    val right = "right" -> "SELECT * FROM S WHERE A"
    val condition = "SELECT * FROM S WHERE A AS a FILTER a[amount / qty > 1]"
    val one = said(right, "one" -> condition)
    assert(one.startsWith("[CER_RULES] Rule 'one' fails: [DIVIDE_BY_ZERO] Division by zero."), one)
    val two = said(right, "one" -> condition, "two" -> s"$condition WITHIN 1 [t]")
    assert(two.startsWith("[CER_RULES] Rule 'one', 'two' fails: [DIVIDE_BY_ZERO]"), two)
    val measure = said(right, "measure" -> "SELECT a, sum(a.amount) / sum(a.qty) AS mean FROM S WHERE A AS a")
    assert(measure.startsWith("[CER_RULES] Rule 'measure' fails: [DIVIDE_BY_ZERO]"), measure)
  }
}
