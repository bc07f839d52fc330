package sparkcer.internal.unit

import org.apache.spark.sql.cerbridge.CerRuntimeException

import sparkcer.internal.stream.{FirstFormat, LogAbout, LogMeaning}

/** A checkpoint that was written for something else is refused, in words. */
class LogAboutSuite extends munit.FunSuite {
  private val meaning = LogMeaning("type='kind'", "card STRING, BIGINT", "0123abcd", 4)
  private val now = LogAbout(2, "SELECT * FROM S WHERE A", "id INT", "by t BIGINT", Some(meaning), 7, 42)

  private val asNow = FirstFormat(meaning.types, compiledAsNow = true)

  private def refused(before: LogAbout, first: FirstFormat = asNow): String =
    intercept[CerRuntimeException](before.mustFit(now, first)).getMessage

  private def refused(before: LogMeaning): String = refused(now.copy(meaning = Some(before)))

  private val advice = "Start with a new checkpointLocation, or go back to what it was."
  private val recompiled =
    "[CER_STATE_MISMATCH] This version of spark-cer compiles the query differently from the one that wrote the checkpoint. Start with a new checkpointLocation, or use that version."

  test("what changed, and what to do") {
    now.copy(piece = 1, nonce = 2).mustFit(now, FirstFormat("another", compiledAsNow = false))
    assertEquals(
      refused(now.copy(query = "SELECT * FROM S WHERE B")),
      s"[CER_STATE_MISMATCH] The checkpoint was written by another query.\nThen: SELECT * FROM S WHERE B\nNow:  SELECT * FROM S WHERE A\n$advice"
    )
    assertEquals(
      refused(now.copy(events = "id BIGINT")),
      s"[CER_STATE_MISMATCH] The events have other columns than when the checkpoint was written.\nThen: id BIGINT\nNow:  id INT\n$advice"
    )
    assertEquals(
      refused(now.copy(time = "by u BIGINT")),
      s"[CER_STATE_MISMATCH] The events are ordered differently from when the checkpoint was written.\nThen: by u BIGINT\nNow:  by t BIGINT\n$advice"
    )
    assertEquals(
      refused(now.copy(format = 3)),
      "[CER_STATE_MISMATCH] The checkpoint was written in format 3 by a newer spark-cer, and this one reads formats up to 2. Use that newer version."
    )
  }

  test("what the numbers in the log mean") {
    assertEquals(
      refused(meaning.copy(types = "no type column")),
      s"[CER_STATE_MISMATCH] The checkpoint was written with no type column, and now there is type='kind'. $advice"
    )
    assertEquals(
      refused(meaning.copy(others = "card INT, BIGINT")),
      s"[CER_STATE_MISMATCH] A column of PARTITION BY or WITHIN has another type than when the checkpoint was written.\nThen: card INT, BIGINT\nNow:  card STRING, BIGINT\n$advice"
    )
    assertEquals(
      refused(meaning.copy(buckets = 2)),
      s"[CER_STATE_MISMATCH] The checkpoint was written with 2 buckets of keys, one for each shuffle partition, and now there are 4. $advice"
    )
    assertEquals(refused(meaning.copy(digest = "4567")), recompiled)
  }

  test("format 1 did not say; it is read where nothing has changed since") {
    val first = now.copy(format = 1, meaning = None)
    first.mustFit(now, asNow)
    assertEquals(refused(first, asNow.copy(compiledAsNow = false)), recompiled)
    assertEquals(
      refused(first, asNow.copy(types = "type='type'")),
      s"[CER_STATE_MISMATCH] The checkpoint was written with type='type', and now there is type='kind'. $advice"
    )
    assertEquals(LogAbout.read(first.bytes), first)
    assertEquals(LogAbout.read(now.bytes), now)
  }
}
