package sparkcer.engine.testkit

import sparkcer.engine.error.Catalogued

/** An error of the catalogue: its whole message, and code that provokes it. */
final class ErrorCase(val key: String, val message: String, provoke: => Any) {

  /** The key and the message of the error that the code ends with, which may be the cause of another. */
  def provoked(): (String, String) =
    try ("no error", s"$provoke")
    catch {
      case e: Throwable =>
        Iterator
          .iterate(e)(_.getCause)
          .takeWhile(_ != null)
          .collectFirst { case c: Throwable with Catalogued => (c.key, c.getMessage) }
          .getOrElse(throw e)
    }
}
