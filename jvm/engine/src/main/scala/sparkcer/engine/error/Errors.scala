package sparkcer.engine.error

import java.nio.charset.StandardCharsets.UTF_8
import java.util.regex.Matcher

/** The catalogue of errors, `error-conditions.json`, in the form of Spark's and Delta's own. It has the SQLSTATE of
  * each error condition and its messages, in which `<name>` is a parameter.
  *
  * A key is a condition, `CER_IDLE`, or one of its messages, `CER_SYNTAX.TWICE`. Users see the condition alone. The
  * message of a condition that has several says what they have in common, and is never printed. Keys of views have the
  * word `VIEW`: `CER_VIEW_…` or `….VIEW_…`.
  */
object Errors {

  /** The text of a message. All of its parameters are given, and no other; a `<name>` in a value stays as it is. */
  def message(key: String, parameters: (String, String)*): String = {
    val template = of(key).messages.getOrElse(key, unknown(key))
    val values = parameters.toMap
    val names = Parameter.findAllMatchIn(template).map(_.group(1)).toSet
    if (values.keySet != names || values.size != parameters.length)
      throw new IllegalArgumentException(
        s"The error $key has the parameters ${shown(names)}, and is given ${shown(parameters.map(_._1))}."
      )
    Parameter.replaceAllIn(template, m => Matcher.quoteReplacement(values(m.group(1))))
  }

  /** The message as users see it, after its condition in brackets. */
  def print(key: String, parameters: (String, String)*): String = s"[${condition(key)}] ${message(key, parameters: _*)}"

  def condition(key: String): String = key.takeWhile(_ != '.')

  def sqlState(key: String): String = of(key).sqlState

  /** Those that have a message, in order. */
  def keys: Vector[String] = conditions.values.flatMap(_.messages.keys).toVector.sorted

  private def of(key: String): ErrorCondition = conditions.getOrElse(condition(key), unknown(key))

  private def unknown(key: String): Nothing = throw new IllegalArgumentException(s"There is no error $key.")

  private lazy val conditions: Map[String, ErrorCondition] = ErrorCondition.read(text)

  private[sparkcer] def text: String = {
    val in = getClass.getResourceAsStream("/sparkcer/error-conditions.json")
    try new String(in.readAllBytes(), UTF_8)
    finally in.close()
  }

  private def shown(names: Iterable[String]): String = names.toVector.sorted.mkString("(", ", ", ")")

  private val Parameter = "<([a-zA-Z]+)>".r
}

/** An error of the catalogue. */
trait Catalogued {
  def key: String
}
