package sparkcer.views.unit

import org.scalacheck.Gen
import org.scalacheck.Prop.forAll

import sparkcer.views.statement.{Statement, StatementLexer, StatementParser, StatementText, Subscript, SubscriptParser}

/** Statements and their part references, without Spark. */
final class StatementSuite extends munit.ScalaCheckSuite {

  private def parse(text: String): Statement = StatementParser.parse(StatementText.split(text).head)

  private def view(update: String, more: String = "PARTITION LENGTH 60") =
    s"CREATE VIEW V AS\nINITIALIZE V[i] AS SELECT * FROM M[i]\nUPDATE V[j] AS $update\n$more"

  private def references(query: String): Seq[String] = parse(view(query)).update.references.map(_.text)

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

  test("comments nest, and strings can be raw or have doubled quotes") {
    assertEquals(references("SELECT 1 /* /* FROM N[j] */ FROM O[j] */ FROM M[j]"), Seq("M[j]"))
    assertEquals(references("SELECT r'\\' , 'it''s FROM N[j]', \"\\\"\" FROM M[j]"), Seq("M[j]"))
    assertEquals(references("SELECT `FROM N[j]`, ``` FROM N[j]` FROM M[j]"), Seq("M[j]"))
  }

  test("subscripts are rounded down") {
    def at(text: String, j: Long) = SubscriptParser(StatementLexer(text), Some("j")).map(_.at(j))
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
