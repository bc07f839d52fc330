package sparkcer.engine.unit

import org.scalacheck.Prop.{forAll, propBoolean}
import org.scalacheck.{Gen, Shrink}

import sparkcer.engine.ceql._
import sparkcer.engine.testkit.{Absences, Beginnings, Endings, Generators, Properties, Simpler}

/** What is printed parses to what was printed. */
class PrinterSuite extends Properties {
  override def cases: Int = 5000

  implicit private val shrinkQuery: Shrink[Query] = Shrink.withLazyList(Simpler.queries)

  /** The text has no word for a projection inside a formula. */
  private def writable(q: Query): Boolean = !q.where.subformulas.exists(_.isInstanceOf[Formula.Project])

  private def roundTrip(q: Query): Unit = assertEquals(Parser.parse(Printer.print(q)), q)

  property("a random query") {
    forAll(Generators.query.suchThat(writable)) { q =>
      val text = Printer.print(q)
      (Parser.parse(text) == q) :| text
    }
  }

  property("a random query with comparisons between events") {
    forAll(Generators.comparing.suchThat(writable)) { q =>
      val text = Printer.print(q)
      (Parser.parse(text) == q) :| text
    }
  }

  property("a random query with quantifiers, sub-windows and conditions on repetitions") {
    forAll(Generators.repeating.suchThat(writable)) { q =>
      val text = Printer.print(q)
      (Parser.parse(text) == q) :| text
    }
  }

  property("queries with events that must not come") {
    forAll(Absences.query.suchThat(writable)) { q =>
      val text = Printer.print(q)
      (Parser.parse(text) == q) :| text
    }
  }

  property("queries that begin or end with NO") {
    forAll(Gen.oneOf(Endings.query, Beginnings.query).suchThat(writable)) { q =>
      val text = Printer.print(q)
      (Parser.parse(text) == q) :| text
    }
  }

  test("every form of NO … FOR") {
    Vector(
      "A ; NO B FOR 10 minutes",
      "A : C ; NO (B AS b FILTER b.k = A.k OR b[p > 1]) FOR :d",
      "NO B FOR :d ; A ; NO A FOR :n hours",
      "((NO B FOR 5 [t] ; A) OR (NO (B OR C) FOR 5 [t] ; D)) ; NO E FOR 9 [t]",
      "(NO B FOR 5 [t] ; A) ; NO E FOR 9 [t]",
      "(A ; NO B FOR 1 second) OR A ; NO (B OR C) FOR :n [`my time`]",
      "(A+ AS x WITHOUT B) ; NO B"
    ).foreach(where => roundTrip(Parser.parse(s"SELECT * FROM S WHERE $where WITHIN 1 hour")))
  }

  private def name(x: String): Name = Name(x)(0)

  private val names = Vector(
    "x",
    "ä",
    "_1",
    "a b",
    "1st",
    "x`y",
    "`",
    "a.b",
    "a>b",
    "PART",
    "PART-BY",
    "--",
    "/*",
    "[",
    "'",
    "select",
    "From",
    "where",
    "filter",
    "and",
    "or",
    "all",
    "any",
    "not",
    "as",
    "partition",
    "by",
    "within",
    "events",
    "consume",
    "limit",
    "distinct",
    "next",
    "last",
    "max",
    "strict",
    "none",
    "count",
    "some",
    "first",
    "min",
    "sum",
    "minutes",
    "flat",
    "having",
    "case",
    "no",
    "without",
    "for"
  )

  names.foreach { n =>
    test(s"a type, stream and variable called $n") {
      val atom = Formula.Atom(None, n)(0)
      val where = Formula.Filter(
        Formula.Sequence(Vector(Formula.As(atom, name(n)), Formula.Atom(Some(n), n)(0))),
        Condition.Holds(name(n), SqlCondition("p = 1")(0))
      )
      val items = Vector(n, s"$n>$n").map(x => SelectList.Item(name(x), None))
      val plain = Select(Strategy.All, distinct = false, SelectList.All)
      roundTrip(Query(plain, Vector(name(n)), where)(""))
      roundTrip(Query(plain.copy(list = SelectList.Variables(items.take(1))), Vector(name(n)), where)(""))
      roundTrip(
        Query(plain.copy(list = SelectList.Variables(items), strategy = Strategy.Max), Vector(name(n)), where)("")
      )
      roundTrip(Query(plain.copy(list = SelectList.Variables(items), distinct = true), Vector(name(n)), where)(""))
    }
  }

  test("every clause") {
    Vector(
      "SELECT DISTINCT MAX x[a, b.c], `y z` FROM S, T WHERE A AS x ; B AS `y z` PARTITION BY [a, `b c`] WITHIN 2.5 [ts] LIMIT 3",
      "SELECT COUNT(*) FROM S WHERE A WITHIN 2 hours 30 minutes CONSUME BY ANY",
      "SELECT NONE FROM S WHERE A WITHIN :n EVENTS LIMIT :`my limit`",
      "SELECT NONE FROM S WHERE NOT((A AS x FILTER x[p]) OR B) WITHIN :`my window` LIMIT 2",
      "SELECT LAST S>A FROM S WHERE S>A FILTER S>A[a IN {1..5} AND b IN {'[', \"]\"}] AND (S>A[c] OR S>A[d])"
    ).foreach(text => roundTrip(Parser.parse(text)))
  }

  test("every quantifier, sub-window and condition on a repetition") {
    Vector(
      "A{2} ; B:{2,} ; C{2,3} ; A{:n,:m} ; B? ; C* ; A:* ; B:{,3} ; C{1,}+",
      "((A ; B WITHIN 5 minutes) ; C WITHIN :n hours) ; (A ; B PART-BY [k] WITHIN 2.5 [t] FILTER A[p]) AS x",
      "(A+ AS x ; B AS `y z`) FILTER count(x) >= 3 AND count(x) != :n AND (SOME x[p > 1] OR first(x)[p] AND last(`y z`)[q])",
      "(A+ AS x ; S>A AS y) FILTER min(x.a) > -1.5 AND max(x.a + 2 * x.b) <= :c AND count(S>A) < 2",
      "(A+ AS x ; B AS `y z`) FILTER first(x).a < `y z`.b AND last(x).a.b = first(`y z`).c AND last(S>A).p != last(x).p"
    ).foreach(where => roundTrip(Parser.parse(s"SELECT * FROM S WHERE $where")))
  }

  test("measures and HAVING") {
    Vector(
      "SELECT x, count(y) AS n, y.`a b`, x.a.b AS c FROM S WHERE A AS x ; B+ AS y HAVING n > 1 WITHIN 3 EVENTS",
      "SELECT MAX FLAT *, max(x.a) AS `the most` FROM S WHERE A AS x",
      "SELECT MAX(x.a) AS m, x AS other, x[a, b.c] AS narrow FROM S WHERE A AS x",
      "SELECT CASE WHEN x.a = ',' THEN 1 ELSE x.b END AS c, x.a IS NOT DISTINCT FROM 2 AS d FROM S WHERE A AS x",
      "SELECT S>A.p, count(S>A) AS n, `S>A`.q AS q FROM S WHERE S>A HAVING sum(S>A.p) > :least",
      "SELECT start AS s, `my key` AS k FROM S WHERE A PARTITION BY [`my key`] LIMIT 3 HAVING end - start IN {1..5}",
      "SELECT x.a /* why */ + 1 AS b -- because\n FROM S WHERE A AS x HAVING x.a -- so\n > 1",
      "SELECT transform(collect(x.a), v -> v + 1) AS vs, x.m['k'] || 'z' AS z FROM S WHERE A+ AS x",
      "SELECT COUNT(*) FROM S WHERE A HAVING matches > 3 AND end < 9"
    ).foreach(text => roundTrip(Parser.parse(text)))
  }

  test("every operand") {
    Vector(
      "x.a = y.b",
      "`my x`.`my a`.b <> y.c",
      "S>A.p >= x.a",
      "(x.a + 1) * 2 - -x.b % 3 < abs(y.a, 'it''s', 1.5) / 2",
      "x[a = y.b AND PREV.a < 1] AND (x.a == y.b OR f() < x.a)"
    ).foreach(c => roundTrip(Parser.parse(s"SELECT * FROM S WHERE (A AS x ; B AS y ; S>A ; C AS `my x`) FILTER $c")))
    roundTrip(
      Parser.parse("SELECT * FROM S WHERE (A AS x ; B AS `y z` PART-BY [x.a, `y z`.b.c]) ALL C PART-BY [`a b`]")
    )
  }
}
