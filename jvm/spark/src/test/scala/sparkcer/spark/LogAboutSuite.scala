package sparkcer.spark

import org.apache.spark.sql.cerbridge.CerRuntimeException

/** A checkpoint that was written for something else is refused, in words. */
class LogAboutSuite extends munit.FunSuite {
  private val now = LogAbout(1, "SELECT * FROM S WHERE A", "id INT", "by t BIGINT", 7, 42)

  private def refused(before: LogAbout): String = intercept[CerRuntimeException](before.mustFit(now)).getMessage

  test("what changed, and what to do") {
    val advice = "Start with a new checkpointLocation, or go back to what it was."
    now.copy(piece = 1, nonce = 2).mustFit(now)
    assertEquals(
      refused(now.copy(query = "SELECT * FROM S WHERE B")),
      s"[CER_STATE_MISMATCH] The checkpoint was written by another query.\nThen: SELECT * FROM S WHERE B\nNow:  SELECT * FROM S WHERE A\n $advice"
    )
    assertEquals(
      refused(now.copy(events = "id BIGINT")),
      s"[CER_STATE_MISMATCH] The events have other columns than when the checkpoint was written.\nThen: id BIGINT\nNow:  id INT\n $advice"
    )
    assertEquals(
      refused(now.copy(time = "by u BIGINT")),
      s"[CER_STATE_MISMATCH] The events are ordered otherwise than when the checkpoint was written.\nThen: by u BIGINT\nNow:  by t BIGINT\n $advice"
    )
    assertEquals(
      refused(now.copy(format = 2)),
      "[CER_STATE_MISMATCH] The checkpoint was written in format 2 by a newer spark-cer, and this one reads formats up to 1. Use that newer version."
    )
  }
}
