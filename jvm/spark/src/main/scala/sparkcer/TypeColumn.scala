package sparkcer

import scala.language.implicitConversions

/** Which column has the types of events, as a call says it: a string names it, and null says that there is none. */
sealed trait TypeColumn

object TypeColumn {

  /** The call does not say. It is the column `type`, if there is one; but where every name in the pattern is a name of
    * FROM, there is none.
    */
  case object Default extends TypeColumn

  /** There is none: the type of an event is the name of its input in FROM. */
  case object None extends TypeColumn

  final case class Named(name: String) extends TypeColumn

  implicit def of(name: String): TypeColumn = if (name == null) None else Named(name)
}
