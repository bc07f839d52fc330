package users

import org.apache.spark.sql._

import sparkcer._

/** The two imports of a Scala program, in the order that formatters give them, outside of our own packages. */
class ImportsSuite extends sparkcer.internal.testkit.SparkSuite {
  private val session: SparkSession = spark
  import session.implicits._

  private val query = "SELECT * FROM S WHERE A ; B WITHIN 5 [t]"
  private lazy val events: DataFrame = Seq(("A", 1L), ("B", 2L), ("B", 9L)).toDF("type", "t")

  private def ends(matches: DataFrame): Seq[Row] = matches.select("end").collect().toSeq

  test("import org.apache.spark.sql._ and import sparkcer._ go together") {
    assertEquals(ends(events.cer(query)), Seq(Row(2L)))
    assertEquals(ends(events.cerSnapshot(query, at = 3L)), Seq(Row(2L)))
    assertEquals(ends(sparkcer.over(query, Map("S" -> events))), Seq(Row(2L)))
  }
}
