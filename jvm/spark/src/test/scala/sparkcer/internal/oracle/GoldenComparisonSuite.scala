package sparkcer.internal.oracle

import scala.io.Source

import sparkcer._
import sparkcer.engine.evaluate.Program
import sparkcer.engine.oracle.GoldenSuite
import sparkcer.engine.testkit.{Event => TestEvent, Match}
import sparkcer.internal.testkit.{SparkSuite, Tables}

/** The engine's golden cases of comparisons between events, through Spark: Examples 1 to 4 and 6 of the chain-CEA paper
  * on its Figure 1, the r, s, t query of the dynamic evaluation paper, View1 of ViewDF, rising runs, and what
  * `comparisons.txt` has.
  */
class GoldenComparisonSuite extends SparkSuite {
  private val tables = new Tables(spark)

  for {
    file <- Seq("twitter", "r-s-t", "view1", "comparisons")
    block <- GoldenSuite.blocks(Source.fromResource(s"golden/$file.txt").mkString)
    if !block.runs.exists(_.expected.exists(_.startsWith("!")))
  } test(s"$file: ${block.title}") {
    val program = Program(block.query)
    block.runs.foreach { run =>
      val events = TestEvent.stream(run.events)
      val found = tables.matches(program, tables(events).cer(block.query, time = tables.timeOf(program)), events)
      assertEquals(Match.show(found), run.expected.filter(_ != "no match"), run.events)
    }
  }
}
