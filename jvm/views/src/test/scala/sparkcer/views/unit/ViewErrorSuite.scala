package sparkcer.views.unit

import sparkcer.engine.error.Errors
import sparkcer.internal.testkit.SparkSuite

/** Each error and each warning of views in the catalogue is provoked, and has the whole message that it should have. */
final class ViewErrorSuite extends SparkSuite {
  private val cases =
    TranslateErrors.cases ++ new DefinitionErrors(spark).cases ++ new OperationErrors(spark).cases

  private val warnings = new ViewWarnings(spark).cases

  for ((key, text, logged) <- warnings) test(s"warning: $key") {
    val said = logged()
    assert(said.exists(_.startsWith(text)), said)
  }

  for ((c, i) <- cases.zipWithIndex)
    test(s"$i: ${c.key}")(assertEquals(c.provoked(), (c.key, c.message)))

  test("there is a case for each key of views") {
    // Delta is not available for every Spark: this one is in DeltaSuite.
    val elsewhere = Set("CER_VIEW_CATALOG.ROLL_UP_DELTA")
    val keys = Errors.keys.filter(k => k.startsWith("CER_VIEW_") || k.contains(".VIEW_"))
    assert(keys.nonEmpty)
    val provoked = cases.map(_.key) ++ warnings.map(_._1)
    assertEquals(keys.filterNot(k => elsewhere(k) || provoked.contains(k)), Vector.empty)
  }
}
