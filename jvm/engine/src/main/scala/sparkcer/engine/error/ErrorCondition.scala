package sparkcer.engine.error

/** An error condition of the catalogue.
  *
  * @param messages
  *   by their keys
  */
final private[engine] case class ErrorCondition(sqlState: String, messages: Map[String, String])

private[engine] object ErrorCondition {

  /** All conditions by name. A catalogue with anything that it need not have, or without what it needs, is an
    * IllegalArgumentException.
    */
  def read(catalogue: String): Map[String, ErrorCondition] = fields(Json.parse(catalogue)).map { case (name, json) =>
    val parts = fields(json)
    if (parts.keySet - "subClass" != Set("message", "sqlState")) fail(name)
    val state = parts("sqlState") match { case Json.Text(s) => s; case _ => fail(name) }
    val own = lines(name, parts("message"))
    name -> ErrorCondition(state, parts.get("subClass").fold(Map(name -> own))(below(name, _)))
  }

  private def below(condition: String, json: Json): Map[String, String] = fields(json).map { case (name, message) =>
    val key = s"$condition.$name"
    val parts = fields(message)
    if (parts.keySet != Set("message")) fail(key)
    key -> lines(key, parts("message"))
  }

  private def fields(json: Json): Map[String, Json] = json match {
    case Json.Object(all) => all.toMap
    case other            => throw new IllegalArgumentException(s"This is not an object of the catalogue: $other.")
  }

  private def lines(key: String, json: Json): String = json match {
    case Json.Array(items) if items.nonEmpty =>
      items.map { case Json.Text(line) => line; case _ => fail(key) }.mkString("\n")
    case _ => fail(key)
  }

  private def fail(key: String): Nothing =
    throw new IllegalArgumentException(s"The error $key does not have the form that the catalogue needs.")
}
