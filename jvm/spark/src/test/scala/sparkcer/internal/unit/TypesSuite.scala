package sparkcer.internal.unit

import org.apache.spark.sql.{AnalysisException, DataFrame}

import sparkcer._
import sparkcer.internal.bind.{Binding, Options, Plan, Types}
import sparkcer.internal.testkit.SparkSuite

/** What a call in Scala says of the type column; tests/unit/test_types.py has the rest. */
class TypesSuite extends SparkSuite {
  private val session = spark
  import session.implicits._

  private lazy val events = Seq((1L, "A", "S"), (2L, "S", "A")).toDF("t", "type", "kind")
  private val every = "SELECT * FROM S WHERE (S AS x ; S AS y) WITHIN 5 [t]"
  private val mixed = "SELECT * FROM S WHERE (A AS x ; S AS y) WITHIN 5 [t]"

  private def found(matches: DataFrame) = matches.select("start", "end").as[(Long, Long)].collect().toSeq

  private def never(matches: => DataFrame): Unit = assert(
    intercept[AnalysisException](matches).getMessage
      .startsWith("[CER_UNKNOWN_TYPE] Line 1, column 24: no event has the type 'A': S has no type column")
  )

  test("not said, none, or a name") {
    assertEquals(found(events.cer(every)), Seq((1L, 2L)))
    assertEquals(found(events.cer(every, eventType = null)), Seq((1L, 2L)))
    assertEquals(found(events.cer(every, eventType = "type")), Nil)
    assertEquals(found(events.cer(mixed)), Seq((1L, 2L)))
    assertEquals(found(events.cer(mixed, eventType = "kind")), Nil)
    never(events.cer(mixed, eventType = null))
    never(events.cer(mixed, eventType = TypeColumn.None))
    val noName: String = null
    never(events.cer(mixed, eventType = noName))
    never(events.cerSnapshot(mixed, eventType = null))
    never(over(mixed, Map("S" -> events), eventType = null))
    assertEquals(found(over(mixed, Map("S" -> events))), Seq((1L, 2L)))
  }

  test("types of a batch") {
    Types.mustOccur(events, mixed, Options())
    assert(
      intercept[AnalysisException](Types.mustOccur(events.where("t = 2"), mixed, Options())).getMessage
        .startsWith(
          "[CER_UNKNOWN_TYPE] Line 1, column 24: no event has the type 'A'. The types that occur are S.\n"
        )
    )
  }

  test("a checkpoint has the type column, which for format 1 was a column 'type' wherever there was one") {
    def types(df: DataFrame, query: String) = {
      val state = Plan.of(Binding.of(df, query, Options()), query, Options()).stream.state
      (state.types, state.first.types)
    }
    val untyped = events.drop("type")
    assertEquals(types(events, mixed), ("type='type'", "type='type'"))
    assertEquals(types(events, every), ("no type column", "type='type'"))
    assertEquals(types(untyped, every), ("no type column", "no type column"))
    val two = "SELECT * FROM S, T WHERE (S AS x ; T AS y) WITHIN 5 [t]"
    def merged(s: DataFrame, t: DataFrame) = Cer.merged(Map("S" -> s, "T" -> t), two, Options())
    assertEquals(types(merged(untyped, untyped), two), ("no type column", "no type column"))
    assertEquals(types(merged(untyped, events), two), ("no type column", "type='type'"))
  }
}
