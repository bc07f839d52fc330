package sparkcer.engine.unit

import sparkcer.engine.ceql.{CeqlException, Parameters, Parser, Printer, Query}

class ParametersSuite extends munit.FunSuite {
  private def bound(clauses: String, values: (String, BigDecimal)*): Query =
    Parameters.bind(Parser.parse(s"SELECT * FROM S WHERE A $clauses"), values.toMap)

  test("numbers take their places in LIMIT and WITHIN") {
    def same(clauses: String, written: String, values: (String, BigDecimal)*): Unit =
      assertEquals(bound(clauses, values: _*), bound(written))
    same("WITHIN :n EVENTS LIMIT :n", "WITHIN 3 EVENTS LIMIT 3", "n" -> 3)
    same("WITHIN :n [ts]", "WITHIN 2.5 [ts]", "n" -> BigDecimal("2.5"))
    same("WITHIN :w", "WITHIN 1.5 seconds", "w" -> 1500000)
    same("WITHIN :h hours 30 minutes :s seconds", "WITHIN 2 hours 30 minutes 0.5 seconds", "h" -> 2, "s" -> 0.5)
  }

  test("a parameter without a value stays") {
    val half = bound("WITHIN :h hours :s seconds", "h" -> 1)
    assertEquals(Parameters.quantities(half).map(_.value), Vector("s"))
    assertEquals(bound("WITHIN :w"), Parser.parse("SELECT * FROM S WHERE A WITHIN :w"))
    assertEquals(Parameters.lengths(bound("WITHIN :w")).map(_.value), Vector("w"))
    val inside = Parser.parse("SELECT * FROM S WHERE (A ; B WITHIN :v FILTER A[p]) ; C WITHIN :w")
    assertEquals(Parameters.lengths(inside).map(_.value), Vector("v", "w"))
    assertEquals(Parser.parse(Printer.print(inside)), inside)
    assertEquals(bound("WITHIN :n [ts] LIMIT :m").limit.toString, "Some(Parameter(Name(m)))")
  }

  test("what an open duration prints parses to itself") {
    val open = bound("WITHIN :h hours 30 minutes :s seconds")
    assertEquals(Parser.parse(Printer.print(open)), open)
  }

  test("conditions are those of all conditions") {
    val query = Parser.parse("SELECT * FROM S WHERE (A AS x FILTER x[p > :a]) ; B FILTER B[q = :b] OR x[p < 1]")
    assertEquals(Parameters.conditions(query).map(_.sql), Vector("q = :b", "p < 1", "p > :a"))
  }

  test("SQL over matches is that of measures and HAVING") {
    val text = "SELECT A, sum(A.p) + :a AS s FROM S WHERE A FILTER A[p > :c] HAVING s > :b"
    val query = Parser.parse(text)
    val expected = Vector(("sum(A.p) + :a", text.indexOf("sum")), ("s > :b", text.indexOf("s > :b")))
    assertEquals(Parameters.ofMatches(query), expected)
    assertEquals(Parameters.conditions(query).map(_.sql), Vector("p > :c"))
  }

  private def refused(clauses: String, values: (String, BigDecimal)*): String =
    intercept[CeqlException](bound(clauses, values: _*)).problem

  test("numbers that do not fit") {
    assertEquals(refused("LIMIT :n", "n" -> 0), "LIMIT takes a whole number, 1 or more, but the parameter :n is 0.")
    assertEquals(
      refused("WITHIN :n EVENTS", "n" -> 1.5),
      "a window of events takes a whole number of events, but the parameter :n is 1.5."
    )
    assertEquals(refused("WITHIN :n [ts]", "n" -> -1), "a window cannot be negative, but the parameter :n is -1.")
    val negative = "a window cannot be negative, but the parameter :n is -1."
    assertEquals(refused("WITHIN :n minutes", "n" -> -1), negative)
    assertEquals(refused("WITHIN 2 hours :n minutes", "n" -> -1), negative)
    assertEquals(refused("WITHIN :n EVENTS", "n" -> -1), negative)
    assertEquals(
      refused("WITHIN :w", "w" -> -5400000000L),
      "a window cannot be negative, but the parameter :w is -1 hour 30 minutes."
    )
    assertEquals(
      refused("WITHIN :n seconds", "n" -> BigDecimal("1e-7")),
      "a window of time takes a whole number of microseconds, but the parameter :n is 0.0000001."
    )
    assertEquals(refused("WITHIN :n weeks", "n" -> BigDecimal("1e9")), "the window is longer than 292,000 years.")
  }
}
