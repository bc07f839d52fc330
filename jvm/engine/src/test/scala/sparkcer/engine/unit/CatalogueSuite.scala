package sparkcer.engine.unit

import sparkcer.engine.error.{ErrorCondition, Errors, Json}

/** The catalogue has the form that it should have, and each error of the engine is as it is written there. */
class CatalogueSuite extends munit.FunSuite {

  EngineErrors.cases.foreach { c =>
    test(c.key)(assertEquals(c.provoked(), (c.key, c.message)))
  }

  test("each error of the engine once, and in the catalogue") {
    val keys = EngineErrors.cases.map(_.key)
    assertEquals(keys.diff(keys.distinct), Vector.empty)
    assertEquals(keys.filterNot(Errors.keys.contains), Vector.empty)
  }

  private def names(json: Json): Vector[Vector[String]] = json match {
    case Json.Object(fields) => fields.map(_._1) +: fields.flatMap(f => names(f._2))
    case Json.Array(items)   => items.flatMap(names)
    case Json.Text(_)        => Vector.empty
  }

  test("the keys are in order, and written as Spark's") {
    val all = names(Json.parse(Errors.text))
    all.foreach(keys => assertEquals(keys, keys.sorted))
    assert(all.head.forall(_.matches("CER(_[A-Z]+)+")), all.head)
    Errors.keys.foreach(key => assert(key.matches("[A-Z_]+(\\.[A-Z_]+)?"), key))
  }

  test("an SQLSTATE is that of a query, of a task or of a warning") {
    Errors.keys.foreach(key => assert(Set("42000", "38000", "01000")(Errors.sqlState(key)), key))
  }

  private def refused(key: String, parameters: (String, String)*): String =
    intercept[IllegalArgumentException](Errors.message(key, parameters: _*)).getMessage

  test("a key or a parameter that is wrong fails") {
    assertEquals(refused("CER_NONE"), "There is no error CER_NONE.")
    assertEquals(refused("CER_SYNTAX"), "There is no error CER_SYNTAX.")
    assertEquals(refused("CER_SYNTAX.NONE"), "There is no error CER_SYNTAX.NONE.")
    def got(names: String) = s"The error CER_SYNTAX.TWICE has the parameters (clause), and is given ($names)."
    assertEquals(refused("CER_SYNTAX.TWICE"), got(""))
    assertEquals(refused("CER_SYNTAX.TWICE", "claus" -> "LIMIT"), got("claus"))
    assertEquals(refused("CER_SYNTAX.TWICE", "clause" -> "A", "other" -> "B"), got("clause, other"))
    assertEquals(refused("CER_SYNTAX.TWICE", "clause" -> "A", "clause" -> "B"), got("clause, clause"))
  }

  test("a value stays as it is") {
    assertEquals(Errors.message("CER_SYNTAX.TWICE", "clause" -> "<clause> $1 \\"), "<clause> $1 \\ is given twice.")
  }

  test("JSON: what is strict, and what is read") {
    val read = Json.parse(" { \"a\" : [ \"b\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\", [], {} ] } ")
    val text = Json.Text("b\"\\/\b\f\n\r\té")
    assertEquals[Json, Json](
      read,
      Json.Object(Vector("a" -> Json.Array(Vector(text, Json.Array(Vector.empty), Json.Object(Vector.empty)))))
    )
    val wrong =
      "" +: "1 true null {a:\"b\"} {\"a\"} [\"a\",] [\"a\" {\"a\":\"b\",\"a\":\"c\"} \"a \"\\x\" \"\\u12\" [][]"
        .split(' ')
        .toVector
    (wrong :+ "\"a\nb\"").foreach(w => intercept[IllegalArgumentException](Json.parse(w)))
  }

  test("a catalogue of another form is refused") {
    Seq(
      "[]",
      """{"A": {"message": ["a"]}}""",
      """{"A": {"message": "a", "sqlState": "42000"}}""",
      """{"A": {"message": [], "sqlState": "42000"}}""",
      """{"A": {"message": ["a"], "sqlState": ["42000"]}}""",
      """{"A": {"message": ["a"], "sqlState": "42000", "more": "b"}}""",
      """{"A": {"message": ["a"], "sqlState": "42000", "subClass": {"B": {"message": ["b"], "sqlState": "1"}}}}"""
    ).foreach(c => intercept[IllegalArgumentException](ErrorCondition.read(c)))
  }
}
