package sparkcer.views.unit

import java.sql.Timestamp

import org.apache.spark.sql.cerbridge.CerException

import sparkcer.internal.testkit.SparkSuite
import sparkcer.views.Views
import sparkcer.views.testkit.Network

/** The views of the ViewDF paper, from statements to rows. */
final class ViewsSuite extends SparkSuite {
  import Network._

  test("the example of Section 2 of ViewDF: a pair is reported from its fourth high loss on") {
    val v = open(spark)
    v.sql(s"$Helper; $View2")
    val losses = Seq(6, 12, 15, 24, 20, 16, 7)
    losses.zipWithIndex.foreach { case (loss, minute) =>
      v.append("M", rows(spark, (minute.toLong, "s", loss)))
      v.maintain()
      val expected = minute match {
        case 4 => Seq("[s,d,4,71]")
        case 5 => Seq("[s,d,5,87]")
        case _ => Nil
      }
      assertEquals(texts(v.read("View2", Begin + minute).drop("PART_TIMESTAMP")), expected, clue(minute))
    }
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    try
      assertEquals(
        texts(v.sql("SELECT * FROM View2 WHERE PART_TIMESTAMP = '2015-01-01 00:04'").drop("PART_TIMESTAMP")),
        Seq("[s,d,4,71]")
      )
    finally spark.conf.unset("spark.sql.session.timeZone")
  }

  test("columns that differ in their case, on a session that tells them apart") {
    val twice = intercept[CerException](open(spark).createTable("C", "t TIMESTAMP, T INT", "t", "60")).getMessage
    assertEquals(twice, "[CER_VIEW_DEFINITION] C would have 2 columns 't'. Give each column its own name.")
    spark.conf.set("spark.sql.caseSensitive", "true")
    try {
      val v = open(spark)
      v.createTable("C", "T INT, t TIMESTAMP, k STRING, K INT", "t", "60")
      v.sql(
        "CREATE VIEW V AS INITIALIZE V[i] AS SELECT k, sum(K) AS n, max(T) AS N FROM C[i] GROUP BY k UPDATE V[j] AS SELECT k, sum(K) AS n, max(T) AS N FROM C[j] GROUP BY k PARTITION LENGTH 60"
      )
      v.sql(
        "CREATE VIEW W AS SELECT k, sum(K) AS n, max(T) AS N FROM C [WINDOW 1 minute] GROUP BY k"
      )
      v.append("C", spark.sql("SELECT 3 AS K, 'x' AS k, timestamp'2015-01-01 00:00:30' AS t, 7 AS T"))
      v.maintain()
      Seq("V", "W").foreach { name =>
        assertEquals(texts(v.read(name).select("k", "n", "N")), Seq("[x,3,7]"), clue(name))
      }
      assertEquals(texts(v.read("C").select("T", "k", "K")), Seq("[7,x,3]"))
    } finally spark.conf.unset("spark.sql.caseSensitive")
  }

  test("statements in spark.sql, beside Spark's own") {
    val folder = Network.folder()
    spark.conf.set("spark.cer.views.path", folder)
    try {
      val v = Views.open(spark, folder)
      v.createTable("M", Schema, "t", "60")
      assertEquals(spark.sql(Helper).head().getString(0), Helper)
      v.append("M", rows(spark, (0, "s", 20)))
      assertEquals(told(v.maintain()), Seq("Helper[0] initialized"))
      val again = intercept[org.apache.spark.sql.AnalysisException](spark.sql(Helper)).getMessage
      assertEquals(
        again,
        "[CER_VIEW_CATALOG] There is already a table or view 'Helper'. Drop it first, or use another name."
      )
      val pattern =
        "CREATE VIEW P AS SELECT src, count(*) AS n FROM M PATTERN [a, b+] WHERE a.loss > 1 AND b.loss > 1 GROUP BY src"
      val window = "CREATE VIEW W AS SELECT src, max(loss) AS top FROM M [WINDOW 3 minutes] GROUP BY src"
      assertEquals(spark.sql(pattern).count(), 2L)
      assertEquals(spark.sql(window).count(), 2L)
    } finally spark.conf.unset("spark.cer.views.path")
    spark.sql("CREATE OR REPLACE TEMP VIEW own AS SELECT 'INITIALIZE' AS x")
    spark.sql(
      "CREATE VIEW paned AS SELECT id, lead(id) OVER w AS b FROM range(3) AS pattern WINDOW w AS (ORDER BY id)"
    ): Unit
    assertEquals(spark.sql("SELECT * FROM paned").count(), 3L)
    spark.sql("DROP VIEW paned")
    assertEquals(spark.sql("SELECT * FROM own WHERE x = :a", Map("a" -> "INITIALIZE")).count(), 1L)
  }

  test("views are replaced, created once, and dropped, in v.sql and in spark.sql") {
    val folder = Network.folder()
    val v = Views.open(spark, folder)
    v.createTable("M", Schema, "t", "60")
    val window = "CREATE VIEW W AS SELECT src, sum(loss) AS s FROM M [WINDOW 2 minutes] GROUP BY src"
    v.sql(s"$Helper; $View2; $window")
    v.append("M", rows(spark, (0 to 3).map(m => (m.toLong, "s", 20)): _*))
    v.maintain()
    assertEquals(v.sql(Helper.replace("VIEW Helper", "VIEW IF NOT EXISTS Helper").replace("> 10", "> 20")).count(), 0L)
    assertEquals(v.read("Helper").count(), 4L)
    val both = s"$Helper; $View2".replace("CREATE VIEW", "CREATE OR REPLACE VIEW").replace(">= 4", ">= 2")
    assertEquals(
      v.sql(both, backfill = true).collect().toSeq.map(_.getString(0)),
      Seq(Helper, View2.replace(">= 4", ">= 2"))
    )
    v.sql(window.replace("CREATE VIEW", "CREATE OR REPLACE VIEW").replace("sum", "max"), backfill = true)
    v.maintain()
    assertEquals(texts(v.read("View2").select("ct")), Seq("[2]", "[3]", "[4]"))
    assertEquals(texts(v.read("W").select("s")), Seq("[20]", "[20]", "[20]"))
    v.sql("DROP VIEW View2; DROP VIEW IF EXISTS Nope")
    assertEquals(v.diagram("mermaid").contains("View2"), false)
    spark.conf.set("spark.cer.views.path", folder)
    try {
      spark.sql("drop view W")
      spark.sql(
        "CREATE OR REPLACE VIEW W AS SELECT src, max(loss) AS s FROM M [WINDOW 3 minutes] GROUP BY src".replace(
          "W AS",
          "X AS"
        )
      )
      spark.sql("CREATE TEMP VIEW own2 AS SELECT 1")
      spark.sql("DROP VIEW own2")
    } finally spark.conf.unset("spark.cer.views.path")
    assert(v.diagram("mermaid").contains("X_helper") && !v.diagram("mermaid").contains("W("), v.diagram("mermaid"))
  }

  test("a view that is replaced keeps its history, in spark.sql too") {
    val folder = Network.folder()
    val v = Views.open(spark, folder)
    v.createTable("M", Schema, "t", "60")
    v.append("M", rows(spark, (0 to 5).map(m => (m.toLong, "s", 20)): _*))
    val window = "CREATE OR REPLACE VIEW W AS SELECT src, sum(loss) AS s FROM M [WINDOW 2 minutes] GROUP BY src"
    def begins(name: String) = v.parts(name).head().getLong(0) - Begin
    v.sql(s"$Helper; $View2; $window", backfill = true)
    v.maintain()
    v.dropParts("W", new Timestamp((Begin + 3) * 60000))
    spark.conf.set("spark.cer.views.path", folder)
    try
      spark.sql(
        s"${Helper.replace("> 10", "> 15")}; $View2; ${window.replace("sum", "max")}"
          .replace("CREATE VIEW", "CREATE OR REPLACE VIEW")
      ): Unit
    finally spark.conf.unset("spark.cer.views.path")
    v.maintain()
    assertEquals(Seq("Helper", "View2", "W").map(begins), Seq(0L, 0L, 3L))
    assertEquals(texts(v.read("View2").select("ct")), Seq("[4]", "[5]", "[6]"))
    assertEquals(texts(v.read("W").select("s")), Seq("[20]", "[20]", "[20]"))
    // A longer view over the same table begins at the same time.
    v.sql(
      Helper
        .replace("CREATE", "CREATE OR REPLACE")
        .replace("LENGTH 60", "LENGTH 120")
        .replace("M[i]", "M[i*2..i*2+1]")
        .replace(
          "M[j]",
          "M[j*2..j*2+1]"
        ) + s"; ${View2.replace("CREATE", "CREATE OR REPLACE").replace("LENGTH 60", "LENGTH 120")}"
    )
    v.maintain()
    assertEquals(begins("Helper"), -Begin / 2)
  }

  test("only the helper view of a replaced view is replaced with it, and not a view of that name") {
    val v = open(spark)
    val own = View2.replace("View2", "W_helper")
    val simple =
      View2.replace("View2", "W").replace("Helper", "M").replace("ct, sum_loss", "loss").replace("ct >= 4", "loss > 1")
    val window = "CREATE OR REPLACE VIEW W AS SELECT src, sum(loss) AS s FROM M [WINDOW 2 minutes] GROUP BY src"
    v.sql(s"$Helper; $own; $simple")
    assertEquals(intercept[CerException](v.sql(window)).key, "CER_VIEW_CATALOG.EXISTS")
    v.sql("DROP VIEW W_helper")
    v.sql(window)
    assert(v.diagram("mermaid").contains("W_helper("))
    v.sql(simple.replace("CREATE", "CREATE OR REPLACE"))
    assert(!v.diagram("mermaid").contains("W_helper"), v.diagram("mermaid"))
    // A helper view that somebody reads stays.
    v.sql(window)
    v.sql(
      "CREATE VIEW R AS INITIALIZE R[i] AS SELECT src FROM W_helper[i] UPDATE R[j] AS SELECT src FROM W_helper[j] PARTITION LENGTH 60"
    )
    v.sql(simple.replace("CREATE", "CREATE OR REPLACE"))
    assert(v.diagram("mermaid").contains("W_helper("), v.diagram("mermaid"))
  }

  test("several views are dropped all or none") {
    val v = open(spark)
    v.sql(s"$Helper; $View2")
    assertEquals(intercept[CerException](v.sql("DROP VIEW View2; DROP VIEW Nope")).key, "CER_VIEW_CATALOG.NOT_FOUND")
    assert(v.diagram("mermaid").contains("View2"))
    v.sql("DROP VIEW View2; DROP VIEW Helper")
    assert(!v.diagram("mermaid").contains("Helper"))
  }

  test("joins with the own part before: a condition through another table counts, and a WITH hides nothing") {
    val v = open(spark)
    spark.sql("SELECT 's' AS src, 'x' AS place").createOrReplaceTempView("places")
    def create(name: String, update: String) = {
      val text =
        s"CREATE VIEW $name AS INITIALIZE $name[i] AS SELECT src, 1 AS ct FROM M[i] UPDATE $name[j] AS $update PARTITION LENGTH 60"
      try {
        v.sql(text): Unit
        "fine"
      } catch { case e: CerException => e.key }
    }
    assertEquals(
      Vector(
        create(
          "A",
          "SELECT New.src, ct + 1 FROM M[j] New, A[j-1] Prev, places WHERE New.src = places.src AND places.src = Prev.src"
        ),
        create("B", "SELECT New.src, ct + 1 FROM M[j] New, B[j-1] Prev, places WHERE New.src = places.src"),
        create("C", "WITH p AS (SELECT * FROM C[j-1]) SELECT New.src, p.ct + 1 FROM M[j] New LEFT JOIN p"),
        create(
          "D",
          "WITH p AS (SELECT * FROM D[j-1]) SELECT New.src, p.ct + 1 FROM M[j] New LEFT JOIN p ON p.src = New.src"
        ),
        create("E", "WITH p AS (SELECT max(ct) AS ct FROM E[j-1]) SELECT New.src, p.ct + 1 FROM M[j] New LEFT JOIN p"),
        create(
          "F",
          "SELECT New.src, ct + 1 FROM M[j] New JOIN places ON New.src = places.src JOIN F[j-1] Prev ON Prev.src = places.src"
        )
      ),
      Vector(
        "fine",
        "CER_VIEW_DEFINITION.JOIN_WITHOUT_ON",
        "CER_VIEW_DEFINITION.JOIN_WITHOUT_ON",
        "fine",
        "fine",
        "fine"
      )
    )
  }

  test("the alias of a source with a window") {
    val v = open(spark)
    v.append("M", rows(spark, (0 to 3).map(m => (m.toLong, "s", m.toInt)): _*))
    Seq("A" -> "M AS m", "B" -> "M m", "C" -> "M").foreach { case (name, from) =>
      val q = if (name == "C") "M" else "m"
      v.sql(
        s"CREATE VIEW $name AS SELECT $q.src, sum($q.loss) AS s FROM $from [WINDOW 2 minutes] WHERE $q.dest = 'd' GROUP BY $q.src HAVING sum($q.loss) > 1",
        backfill = true
      )
    }
    v.maintain()
    Seq("A", "B", "C").foreach(n => assertEquals(texts(v.read(n).drop("PART_TIMESTAMP")), Seq("[s,3]", "[s,5]"), n))
  }

  test("times with slashes, as in the ViewDF paper") {
    val v = open(spark)
    v.append("M", rows(spark, (0 to 3).map(m => (m.toLong, "s", m.toInt)): _*))
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    try {
      def losses(where: String) = texts(v.sql(s"SELECT loss FROM M WHERE $where"))
      assertEquals(losses("PART_TIMESTAMP=\"2015/01/01 0:00\""), Seq("[0]"))
      assertEquals(
        losses("M.PART_TIMESTAMP >= '2015/1/1 0:02:00' AND '2015/01/01' < M.PART_TIMESTAMP"),
        Seq("[2]", "[3]")
      )
      assertEquals(losses("PART_TIMESTAMP BETWEEN '2015/01/01 0:01' AND '2015/01/01 0:02'"), Seq("[1]", "[2]"))
      assertEquals(losses("PART_TIMESTAMP IN ('2015/01/01 0:01') AND src <> '2015/01/01 0:01'"), Seq("[1]"))
      assertEquals(
        texts(v.sql("SELECT '2015/01/01' AS x FROM M WHERE PART_TIMESTAMP = '2015/01/01'")),
        Seq("[2015/01/01]")
      )
      assertEquals(v.read("M", v.timestamp("2015/01/01 0:03")).count(), 1L)
    } finally spark.conf.unset("spark.sql.session.timeZone")
  }

  test("late data: only parts that are affected are recomputed, and an unchanged part ends the chain") {
    val v = open(spark)
    v.sql(s"$Helper; $View2")
    v.append("M", rows(spark, (0 to 9).map(m => (m.toLong, "s", if (m == 6) 1 else 20)): _*))
    v.maintain()
    assertEquals(told(v.maintain()), Nil)
    v.append("M", rows(spark, (3, "x", 30)))
    assertEquals(told(v.maintain()), Seq("Helper[3] recomputed", "Helper[4] unchanged", "View2[3] unchanged"))
    v.append("M", rows(spark, (2, "x", 30)))
    assertEquals(
      told(v.maintain()),
      Seq(
        "Helper[2] recomputed",
        "Helper[3] recomputed",
        "Helper[4] unchanged",
        "View2[2] unchanged",
        "View2[3] unchanged"
      )
    )
  }

  /** View2 reads no rows: the statistics in the files of Helper tell that no row meets its condition. */
  test("the rows that an update has read, as Spark counts them") {
    val v = open(spark)
    spark.range(1000).selectExpr("concat('s', id) AS src", "id").createOrReplaceTempView("thousand")
    v.sql(s"$Helper; $View2")
    v.sql(
      "CREATE VIEW W AS INITIALIZE W[i] AS SELECT src, id FROM M[i] JOIN thousand USING (src) UPDATE W[j] AS SELECT src, id FROM M[j] JOIN thousand USING (src) PARTITION LENGTH 60"
    )
    v.append("M", rows(spark, (0 to 1).flatMap(m => (0 to 9).map(n => (m.toLong, s"s$n", if (n < 5) 20 else 1))): _*))
    assertEquals(
      v.maintain()
        .orderBy("view", "part")
        .collect()
        .toSeq
        .map(r => (r.getString(0), r.getAs[Long]("rows"), r.getAs[Long]("rows_read"))),
      Seq(
        ("Helper", 5L, 10L),
        ("Helper", 5L, 15L),
        ("View2", 0L, 0L),
        ("View2", 0L, 0L),
        ("W", 10L, 1010L),
        ("W", 10L, 1010L)
      )
    )
  }

  test("a batch with a name is appended once") {
    val v = open(spark)
    assertEquals(v.append("M", rows(spark, (0, "s", 20)), batch = Some("a")), 0L)
    v.append("M", rows(spark, (0, "s", 20)), batch = Some("a"))
    v.append("M", rows(spark, (0, "s", 20)), batch = Some("b"))
    assertEquals(v.read("M").count(), 2L)
    assertEquals(v.append("M", rows(spark, (10000000, "s", 20)), batch = Some("c")), 1L)
    assertEquals(v.append("M", rows(spark, (10000000, "s", 20)), batch = Some("c")), 0L)
    assertEquals((v.read("M").count(), v.aside("M").count()), (2L, 1L))
  }

  test("parts of an hour over parts of a minute, and a join of two tables") {
    val v = open(spark)
    v.createTable("N", "src STRING, u TIMESTAMP, weight INT", "u", "60")
    v.sql(s"$View3; $J")
    v.append("M", rows(spark, (0 to 120).map(m => (m.toLong, "s", m)): _*))
    v.append("N", spark.sql(s"SELECT 's' AS src, timestamp_seconds(${(Begin + 7) * 60}) AS u, 3 AS weight"))
    v.maintain()
    assertEquals(texts(v.read("View3").select("sum_loss")), Seq("[1770]", "[5370]"))
    assertEquals(texts(v.read("J").select("src", "loss", "weight")), Seq("[s,7,3]"))
  }
}
