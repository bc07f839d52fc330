package sparkcer.views.store

import java.io.IOException

import scala.util.control.NonFatal

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.cerbridge.CerRuntimeException

import sparkcer.engine.error.Catalogued

/** What file systems throw, in our words: a full disk, a file that is lost. Spark wraps it several times, and the error
  * that is at hand then says only that a task has failed.
  */
private[views] object FileErrors {

  /** An error of the body that comes from a file system gets the words of `CER_VIEW_STORAGE.FILES`.
    *
    * @param what
    *   whose files they are
    */
  def inWords[A](what: String)(body: => A): A =
    try body
    catch { case NonFatal(e) => throw worded(e)(reason => "FILES" -> Seq("what" -> what, "reason" -> reason)) }

  /** @param error
    *   for the reason, the key in `CER_VIEW_STORAGE` and the other parameters
    * @return
    *   an error that does not come from a file system as it is
    */
  def worded(e: Throwable)(error: String => (String, Seq[(String, String)])): Throwable =
    if (e.isInstanceOf[Catalogued]) e
    else
      causes(e).collectFirst { case io: IOException => io } match {
        case None     => e
        case Some(io) =>
          val reason = Option(io.getMessage).getOrElse(io.toString).linesIterator.nextOption().getOrElse("")
          val (key, parameters) = error(reason.stripSuffix("."))
          val failed = new CerRuntimeException(s"CER_VIEW_STORAGE.$key", parameters: _*)
          failed.addSuppressed(e)
          failed
      }

  /** Could a file of the rows that were to be written not be read? */
  def isUnread(e: Throwable): Boolean = causes(e).exists {
    case s: SparkThrowable => Option(s.getCondition).exists(_.startsWith("FAILED_READ_FILE"))
    case _                 => false
  }

  /** Was the work stopped from outside, and did not fail? Spark cancels the jobs of a stream that is stopped. */
  def isCancelled(e: Throwable): Boolean = causes(e).exists {
    case _: InterruptedException => true
    case s: SparkThrowable       => Option(s.getCondition).contains("SPARK_JOB_CANCELLED")
    case _                       => false
  }

  private def causes(e: Throwable) = Iterator.iterate(e)(_.getCause).takeWhile(_ != null).take(20).toVector
}
