package sparkcer.views.unit

import org.scalacheck.Gen
import org.scalacheck.Prop.forAll

import org.apache.spark.sql.cerbridge.CerException

import sparkcer.views.statement.{Statement, StatementLexer, StatementParser, StatementText, Subscript}

/** Statements and their part references, without Spark. */
final class StatementSuite extends munit.ScalaCheckSuite {

  private def parse(text: String): Statement = StatementParser.parse(StatementText.split(text).head)

  private def view(update: String, more: String = "PARTITION LENGTH 60") =
    s"CREATE VIEW V AS\nINITIALIZE V[i] AS SELECT * FROM M[i]\nUPDATE V[j] AS $update\n$more"

  private def references(query: String): Seq[String] = parse(view(query)).update.references.map(_.text)

  private def problem(text: String): String = intercept[CerException](parse(text)).getMessage

  test("references stand where relations do, and nowhere else") {
    assertEquals(
      references("SELECT a[0], 'FROM M[j]' FROM M[j], N[j-1] n -- M[j-2]\nWHERE b[1] > 0"),
      Seq("M[j]", "N[j-1]")
    )
    assertEquals(references("SELECT * FROM (M[j] NATURAL JOIN N[j]) /* , O[j] */"), Seq("M[j]", "N[j]"))
    assertEquals(references("SELECT extract(DAY FROM a[0]), x IS NOT DISTINCT FROM a[1] FROM M[j]"), Seq("M[j]"))
    assertEquals(
      references("WITH w AS (SELECT * FROM M[j-1]) SELECT * FROM w WHERE x IN (SELECT y FROM M[j])"),
      Seq("M[j-1]", "M[j]")
    )
    assertEquals(references("SELECT * FROM cer(TABLE(M[j]), 'SELECT …') UNION ALL TABLE N[j]"), Seq("M[j]", "N[j]"))
    assertEquals(references("SELECT * FROM `my table`[ j*60 .. j*60+59 ]"), Seq("`my table`[ j*60 .. j*60+59 ]"))
  }

  test("Spark sees the query in its place, with a name for each reference") {
    val sql = parse(view("SELECT *\nFROM M[j] JOIN N[j-1]")).update.sql
    assertEquals(
      sql.split('\n').toSeq.map(_.stripTrailing),
      Seq("", "", " " * 15 + "SELECT *", "FROM`M[j` JOIN`N[j-1`")
    )
  }

  test("several statements, with or without semicolons, and the paper's small slips") {
    val two = StatementText.split(view("SELECT 1 FROM M[j]") + "\n" + view("SELECT ';' FROM M[j]") + ";\n;")
    assertEquals(two.map(s => parse(s.text).name), Vector("V", "V"))
    assertEquals(
      parse(
        "CREATE VIEW V INITIALIZE V[i] AS SELECT 1 FROM M[i] UPDATE VIEW V[j] AS SELECT 1 FROM M[j] PARTITION LENGTH 1 hour"
      ).length,
      3600L
    )
  }

  test("what is missing is said with its place") {
    assertEquals(
      problem("CREATE VIEW V AS INITIALIZE V[i] AS SELECT 1 FROM M[i] PARTITION LENGTH 60"),
      "[CER_VIEW_DEFINITION] In the statement of view V, line 1, column 75: UPDATE V[j] AS … is missing: it says how each part after the first is made."
    )
    assertEquals(
      problem(view("SELECT 1 FROM M[j]", "PARTITION LENGTH soon")),
      "[CER_VIEW_DEFINITION] In the statement of view V, line 4, column 18: PARTITION LENGTH is a number of seconds or a length of time, such as 60 or 1 hour."
    )
    assertEquals(
      problem(view("SELECT 1 FROM M[k]")),
      "[CER_VIEW_DEFINITION] In the UPDATE of view V, line 3, column 32: the subscript of M[k]: 'k' is not known; the part's own subscript is 'j'."
    )
    assertEquals(
      problem(view("SELECT 'a FROM M[j]")),
      "[CER_VIEW_DEFINITION] The string opened at line 3, column 23 is never closed."
    )
    assertEquals(
      problem(view("SELECT 1 FROM M[j/2*2]")),
      "[CER_VIEW_DEFINITION] In the UPDATE of view V, line 3, column 36: the subscript of M[j/2*2]: a quotient cannot be multiplied, because it is rounded."
    )
  }

  test("subscripts are rounded down") {
    def at(text: String, j: Long) = Subscript.parse(StatementLexer(text), Some("j")).map(_.at(j))
    assertEquals(at("(j-1)/60+2", 0), Right(1L))
    assertEquals(at("-j*2+60-59", 5), Right(-9L))
    assertEquals(at("j/2/3", 17), Right(2L))
  }

  property("the parts that need a part are those whose subscripts reach it") {
    val subscripts =
      for (a <- Gen.choose(1L, 7L); b <- Gen.choose(-20L, 20L); c <- Gen.choose(1L, 7L)) yield Subscript(a, b, c)
    forAll(subscripts, Gen.choose(-30L, 30L)) { (s, limit) =>
      val all = -300L to 300L
      s.firstFrom(limit) == all.find(s.at(_) >= limit).get && s.lastWithin(limit) == all.findLast(s.at(_) <= limit).get
    }
  }
}
