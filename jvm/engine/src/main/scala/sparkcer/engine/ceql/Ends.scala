package sparkcer.engine.ceql

import java.util.Locale

/** `first(x)` and `last(x)` in a FILTER: the earliest and the latest event of a variable. They are written where a
  * variable can stand, and are names of variables that bind one event at the most.
  */
sealed abstract class End(val word: String)
object End {
  case object First extends End("first")
  case object Last extends End("last")

  val byWord: Map[String, End] = Seq(First, Last).map(e => e.word.toUpperCase(Locale.ROOT) -> e).toMap
}

object Ends {

  /** The name of an end of a variable. */
  def name(end: End, variable: String): String = s"${end.word}($variable)"

  /** What such a name stands for. No other variable is called so: a name has no parenthesis, unless in backticks. */
  def of(name: String): Option[(End, String)] =
    Seq(End.First, End.Last).collectFirst {
      case end if name.startsWith(s"${end.word}(") && name.endsWith(")") =>
        (end, name.substring(end.word.length + 1, name.length - 1))
    }

  /** The variable itself, of a variable or of an end of one. */
  def variable(name: String): String = of(name).fold(name)(_._2)
}
