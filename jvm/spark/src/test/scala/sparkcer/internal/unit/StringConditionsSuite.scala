package sparkcer.internal.unit

import java.nio.file.Files

import org.apache.logging.log4j.LogManager
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.debug.codegenString

import sparkcer._
import sparkcer.internal.prepare.PrepareExec
import sparkcer.internal.testkit.{Logged, SparkSuite}

/** Conditions tested by the dictionaries of Parquet files give what they give on any other input. */
class StringConditionsSuite extends SparkSuite {
  private val session = spark
  import session.implicits._

  private val rng = new scala.util.Random(3)

  /** Several files, so that the same word has another place in another dictionary. Of `note` most words come once. */
  private val events: DataFrame = (0 until 6)
    .map { file =>
      val (types, names) = (rng.shuffle(Seq("A", "B", "C", "X", "a")), rng.shuffle((0 until 40).map(i => s"n$i")))
      Seq
        .tabulate(1500) { i =>
          def one[T](s: Seq[T]) = s(rng.nextInt(s.length))
          val note = if (rng.nextInt(3) == 0) "common" else s"only $file $i"
          val kind = Option.when(rng.nextInt(9) > 0)(one(types))
          (kind, Option.when(rng.nextInt(50) > 0)(file * 1500L + i), one(names), rng.nextInt(10), note)
        }
        .toDF("type", "t", "name", "n", "note")
        .coalesce(1)
    }
    .reduce(_ union _)

  private lazy val stored: DataFrame = {
    val folder = Files.createTempDirectory("strings").resolve("events").toString
    events.write.parquet(folder)
    spark.read.parquet(folder)
  }

  private val queries = Seq(
    "SELECT * FROM S WHERE (A AS x ; B AS y) FILTER x[name = 'n3'] AND y[name = 'n4'] WITHIN 90 [t]",
    "SELECT * FROM S WHERE (A AS x ; B AS y) FILTER x[name IN ('n1', 'n2') AND n < 4] AND y[name > 'n30' OR n = 1] WITHIN 20 [t]",
    "SELECT * FROM S WHERE (A AS x ; B AS y) FILTER x[upper(type) = 'A'] AND y[note = 'common' AND n < 3] WITHIN 20 [t]",
    "SELECT * FROM S WHERE (A AS x ; B AS y) FILTER x[name LIKE 'n1%'] AND y[length(note) > 9] WITHIN 20 [t]",
    "SELECT * FROM S WHERE (A AS x ; B AS y) FILTER x[note IS NULL OR name <=> 'n5'] AND y[name != 'n5'] PARTITION BY [n] WITHIN 90 [t]",
    "SELECT * FROM S WHERE (A AS x ; B AS y) FILTER x[n < 1] AND y[n > 8] WITHIN 30 [t]"
  )

  private def rows(df: DataFrame, query: String): Seq[String] =
    df.cer(query).drop("match_id").collect().map(_.toString).sorted.toSeq

  for (query <- queries) test(query) {
    val expected = rows(events, query)
    assert(expected.length > 5, expected.length.toString)
    assertEquals(rows(stored, query), expected)
    withConf("spark.sql.parquet.enableVectorizedReader" -> "false")(assertEquals(rows(stored, query), expected))
    withConf("spark.sql.columnVector.offheap.enabled" -> "true")(assertEquals(rows(stored, query), expected))
  }

  test("dictionaries are in use, and metrics count the same") {
    val query = queries.head
    def counted(df: DataFrame): Map[String, Long] = {
      val matches = df.cer(query)
      matches.collect(): Unit
      operator(matches) { case p: PrepareExec => p }.metrics.map { case (n, m) => n -> m.value }
    }
    assertEquals(counted(stored), counted(events))
    withConf("spark.sql.adaptive.enabled" -> "false") {
      val code = codegenString(stored.cer(query).queryExecution.executedPlan)
      assert(code.contains("cerLeft"), code)
    }
  }

  test("structs are read by generated code, too") {
    val query = queries.head + " HAVING x.s.n >= 0"
    val folder = Files.createTempDirectory("strings").resolve("structs").toString
    val structs = events.selectExpr("type", "t", "name", "named_struct('n', n, 'names', array(name)) AS s")
    structs.write.parquet(folder)
    withConf("spark.sql.codegen.fallback" -> "false") {
      val found = rows(spark.read.parquet(folder), query)
      assert(found.length > 5, found.length.toString)
      assertEquals(found, rows(structs, query))
    }
  }

  test("Spark finds nothing to report in the generated code") {
    val name = classOf[PrepareExec].getName
    val folder = Files.createTempDirectory("strings").toString
    val seen = Logged.during(name) {
      stored.cer(queries.head).write.parquet(s"$folder/batch")
      stored.cer(queries.head).limit(3).collect(): Unit
      stored.cer(queries.head).cache().count(): Unit
      stored.write.parquet(s"$folder/events")
      toFiles(spark.readStream.schema(stored.schema).parquet(s"$folder/events").cer(queries.head), s"$folder/stream")(
        ()
      )
      LogManager.getLogger(name).warn("heard")
    }
    assertEquals(seen, Vector("heard"))
  }

  test("a condition that can fail is not tested where another one keeps it from that") {
    val numbers = Seq(("A", 1L, "7"), ("B", 2L, "seven"), ("B", 3L, "8")).toDF("type", "t", "s").coalesce(1)
    val folder = Files.createTempDirectory("strings").resolve("events").toString
    numbers.write.parquet(folder)
    val found = spark.read.parquet(folder).cer("SELECT x FROM S WHERE A AS x FILTER x[CAST(s AS INT) = 7] WITHIN 5 [t]")
    assertEquals(found.select("x.t").as[Long].collect().toSeq, Seq(1L))
  }
}
