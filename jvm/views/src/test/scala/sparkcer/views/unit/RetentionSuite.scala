package sparkcer.views.unit

import java.sql.Timestamp

import org.apache.spark.sql.cerbridge.CerException

import sparkcer.internal.testkit.SparkSuite
import sparkcer.views.Views
import sparkcer.views.maintain.TableSink
import sparkcer.views.testkit.Network

/** Old parts are dropped only if no view needs them, and can be rolled up. Parts that need dropped parts are frozen. */
final class RetentionSuite extends SparkSuite {
  import Network._

  private def minute(m: Long) = new Timestamp((Begin + m) * 60000)

  private def filled(): Views = {
    val v = open(spark)
    v.sql(s"$Helper; $View2")
    v.append("M", rows(spark, (0 to 7).map(m => (m.toLong, "s", 20)): _*))
    v.maintain()
    v
  }

  private def refused(v: Views, name: String, before: Long): String =
    intercept[CerException](v.dropParts(name, minute(before))).key

  test("parts that are needed are refused, and go with what needs them on request") {
    val v = filled()
    assertEquals(v.dropParts("M", minute(8)).toSeq, Seq(s"M[$Begin..${Begin + 7}]"))
    assertEquals(refused(v, "Helper", 8), "CER_VIEW_NEEDED.PARTS_NEXT")
    assertEquals(v.dropParts("Helper", minute(7)).toSeq, Seq(s"Helper[$Begin..${Begin + 6}]"))
    v.append("M", rows(spark, (8, "s", 20)))
    assertEquals(told(v.maintain()), Seq("Helper[8] updated", "View2[8] updated"))
    assertEquals(texts(v.read("View2", Begin + 8).drop("PART_TIMESTAMP")), Seq("[s,d,9,180]"))
    v.append("M", rows(spark, (9, "s", 20)))
    // M[9] is needed by the part of Helper that is not computed yet.
    assertEquals(refused(v, "M", 10), "CER_VIEW_NEEDED.PARTS_NEXT")
    assertEquals(
      v.dropParts("M", minute(10), cascade = true).toSet,
      Set(s"M[${Begin + 8}..${Begin + 9}]", s"Helper[${Begin + 7}..${Begin + 8}]", s"View2[$Begin..${Begin + 8}]")
    )
    v.append("M", rows(spark, (11, "s", 20), (12, "s", 20)))
    assertEquals(
      told(v.maintain()),
      Seq("Helper[10] initialized", "Helper[11] updated", "Helper[12] updated") ++
        Seq("View2[10] initialized", "View2[11] updated", "View2[12] updated")
    )
    // A view that needs no part of its own continues after its dropped parts.
    v.dropParts("View2", minute(20))
    v.append("M", rows(spark, (13, "s", 20)))
    assertEquals(told(v.maintain()), Seq("Helper[13] updated", "View2[13] updated"))
  }

  test("open parts are not dropped behind the back of the views") {
    spark.sparkContext.setLocalProperty(TableSink.QueryId, "q")
    try {
      val v = open(spark)
      v.sql(Helper)
      v.sink("M", "2 minutes")(rows(spark, (0 to 4).map(m => (m.toLong, "s", 20)): _*), 0)
      assertEquals(told(v.maintain()), Nil)
      assertEquals(v.parts("Helper").count(), 2L)
      assertEquals(refused(v, "M", 4), "CER_VIEW_NEEDED.OPEN")
      assertEquals(v.dropParts("M", minute(2)).toSeq, Seq(s"M[$Begin..${Begin + 1}]"))
      assertEquals(
        v.dropParts("M", minute(4), cascade = true).toSet,
        Set(s"M[${Begin + 2}..${Begin + 3}]", s"Helper[$Begin..${Begin + 1}]")
      )
      v.sink("M", "0 seconds")(rows(spark, (5, "s", 20), (6, "s", 20)), 1)
      assertEquals(texts(v.read("Helper").select("ct")), Seq("[1]", "[2]"))
    } finally spark.sparkContext.setLocalProperty(TableSink.QueryId, null)
  }

  test("open parts with a gap are dropped: the views that wait for the gap start again") {
    spark.sparkContext.setLocalProperty(TableSink.QueryId, "gap")
    try {
      val v = open(spark)
      v.sql(Helper)
      v.sink("M", "2 minutes")(rows(spark, Seq(0L, 1L, 2L, 4L, 5L).map(m => (m, "s", 20)): _*), 0)
      assertEquals(v.parts("M").collect().toSeq.map(r => r.getLong(0) - Begin -> r.getString(2)).last, 5L -> "open")
      v.sink("M", "2 minutes")(rows(spark, (5, "x", 20)), 1)
      v.dropParts("M", minute(5), cascade = true)
      v.sink("M")(rows(spark, (6, "s", 20), (7, "s", 20)), 2)
      assertEquals(told(v.maintain()), Nil)
      assertEquals(v.parts("Helper").collect().toSeq.map(_.getLong(0) - Begin), Seq(5L, 6L))
    } finally spark.sparkContext.setLocalProperty(TableSink.QueryId, null)
  }

  test("late data where a source was dropped: the part stays, and is reported") {
    val v = filled()
    v.dropParts("Helper", minute(5))
    v.append("M", rows(spark, (5, "x", 20)))
    assert(v.explain().contains("stale"))
    assertEquals(told(v.maintain()), Seq("Helper[5] frozen"))
    // The dropped parts of Helper between M and View2 would have changed too.
    v.append("M", rows(spark, (3, "x", 20)))
    assertEquals(told(v.maintain()), Seq("Helper[5] frozen", "View2[3] frozen", "View2[4] frozen"))
    assert(
      v.explain().contains(s"  frozen: ${Begin + 5}; a source changed, and other parts that they need were dropped")
    )
    v.dropParts("M", minute(3))
    intercept[CerException](v.append("M", rows(spark, (1, "x", 1), (8, "x", 1))))
    assertEquals(v.parts("M").count(), 5L)
  }

  test("a stale part that needs what is to be dropped") {
    val v = filled()
    v.append("M", rows(spark, (2, "x", 20)))
    assertEquals(refused(v, "M", 5), "CER_VIEW_NEEDED.PARTS_STALE")
    v.maintain()
    v.dropParts("M", minute(5))
    // With cascade, the views lose the parts that would be recomputed and all earlier ones, and do not start again.
    v.append("M", rows(spark, (5, "x", 20)))
    assertEquals(
      v.dropParts("M", minute(6), cascade = true).toSet,
      Set(s"M[${Begin + 5}]", s"Helper[$Begin..${Begin + 5}]", s"Helper[${Begin + 6}]", s"View2[$Begin..${Begin + 5}]")
    )
    v.append("M", rows(spark, (8, "s", 20)))
    assertEquals(told(v.maintain()), Seq("Helper[8] updated", "View2[8] updated"))
  }

  test("rolled-up parts keep their numbers and their rows, late ones too") {
    val v = filled()
    val before = texts(v.read("M"))
    val helper = texts(v.read("Helper"))
    assertEquals(v.rollUp("M", minute(7), "2 minutes"), 6L)
    assertEquals(v.rollUp("Helper", minute(8), "4 minutes"), 8L)
    assertEquals(v.rollUp("M", minute(7), "2 minutes"), 0L)
    assertEquals(texts(v.read("M")), before)
    assertEquals(texts(v.read("Helper")), helper)
    assertEquals(v.read("M", Begin + 3).count(), 1L)
    assertEquals(v.sql("SELECT * FROM M").where(s"PART_TIMESTAMP = timestamp_seconds(${(Begin + 3) * 60})").count(), 1L)
    assertEquals(told(v.maintain()), Nil)
    v.append("M", rows(spark, (3, "x", 20)))
    assertEquals(told(v.maintain()), Seq("Helper[3] recomputed", "Helper[4] unchanged", "View2[3] unchanged"))
    assertEquals(v.read("Helper", Begin + 3).count(), 2L)
    // Part 3 of the helper was recomputed; its old rows are still in the file of parts 0 to 3.
    assertEquals(v.rollUp("Helper", minute(8), "2 minutes"), 2L)
    assertEquals(v.read("Helper").count(), 9L)
  }

  test("tables and views go only with what is computed from them") {
    val v = filled()
    assertEquals(intercept[CerException](v.drop("M")).key, "CER_VIEW_NEEDED.TABLE")
    assertEquals(v.drop("View2").toSeq, Seq("View2"))
    assertEquals(v.drop("M", cascade = true).toSeq, Seq("M", "Helper"))
    assertEquals(v.explain(), "There are no tables and no views yet.")
  }
}
