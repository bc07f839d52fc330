package sparkcer.internal.unit

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

import sparkcer.engine.error.{Errors, Json}
import sparkcer.engine.unit.EngineErrors
import sparkcer.internal.testkit.SparkSuite

/** Each error of the catalogue that is not one of the engine's or of views', as it is written there. */
class ErrorsSuite extends SparkSuite {
  private val streams = new StreamErrors(spark)
  private val rules = new RuleErrors(spark)
  private val realTime = new RealTimeErrors(spark)
  private val warnings = streams.warnings ++ rules.warnings ++ realTime.warnings
  private val cases =
    new QueryErrors(spark).cases ++ new MeasureErrors(spark).cases ++ new WaitingErrors(spark).cases ++
      streams.cases ++ rules.cases ++ realTime.cases ++ new ConnectErrors(spark).cases

  cases.foreach { c =>
    test(c.key)(assertEquals(c.provoked(), (c.key, c.message)))
  }

  warnings.foreach { case (key, text, logged) =>
    test(key) {
      val said = logged()
      assert(said.contains(text), said)
    }
  }

  test("each error once, and all that there are") {
    val keys = cases.map(_.key) ++ warnings.map(_._1) ++ EngineErrors.cases.map(_.key)
    assertEquals(keys.sorted, Errors.keys.filterNot(k => k.startsWith("CER_VIEW_") || k.contains(".VIEW_")))
  }

  private def same(read: Json, jackson: JsonNode): Unit = read match {
    case Json.Text(value)  => assertEquals(value, jackson.textValue)
    case Json.Array(items) =>
      assert(jackson.isArray)
      assertEquals(items.length, jackson.size)
      items.zip(jackson.elements.asScala).foreach { case (a, b) => same(a, b) }
    case Json.Object(fields) =>
      assert(jackson.isObject)
      assertEquals(fields.map(_._1), jackson.fieldNames.asScala.toVector)
      fields.foreach { case (name, value) => same(value, jackson.get(name)) }
  }

  test("the catalogue is read as Jackson reads it") {
    same(Json.parse(Errors.text), new ObjectMapper().readTree(Errors.text))
  }
}
