package org.apache.spark.sql.cerbridge

import java.util.{Map => JavaMap}

import org.apache.spark.SparkRuntimeException
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.trees.Origin

import sparkcer.engine.ceql.CeqlException
import sparkcer.engine.error.{Catalogued, Errors}

/** An error of spark-cer. In PySpark it arrives as `AnalysisException` with its message and no Java stack.
  *
  * @param key
  *   of the error in the catalogue, see [[sparkcer.engine.error.Errors]]
  * @param text
  *   the whole message, which begins with the condition in brackets
  */
class CerException private (val key: String, text: String)
    extends AnalysisException(
      text,
      None,
      None,
      None,
      Some(Condition.known(Errors.condition(key))),
      Map(Condition.Message -> text.stripPrefix(s"[${Errors.condition(key)}] ")),
      Array.empty
    )
    with Catalogued {

  /** @param parameters of the error's message */
  def this(key: String, parameters: (String, String)*) = this(key, Errors.print(key, parameters: _*))

  /** What the engine refuses, with its place in the query. */
  def this(e: CeqlException) = this(e.key, e.getMessage)

  override def getMessage: String = text
  override def getSqlState: String = Errors.sqlState(key)

  /** In SQL, Spark would add where the call of `cer` begins, in an exception that is not of this class. The message is
    * the same at every door.
    */
  override def withPosition(origin: Origin): AnalysisException = this
}

/** An error that only shows when events are read, in a task. Spark hands errors of this family on to the driver, and
  * PySpark has them as `SparkRuntimeException`; any other would arrive as a Java stack.
  *
  * @param key
  *   of the error in the catalogue, see [[sparkcer.engine.error.Errors]]
  * @param text
  *   the message without the condition in brackets
  */
class CerRuntimeException private (val key: String, text: String, cause: Throwable)
    extends SparkRuntimeException("USER_RAISED_EXCEPTION", Map("errorMessage" -> text), cause)
    with Catalogued {

  /** @param parameters of the error's message */
  def this(key: String, parameters: (String, String)*) = this(key, Errors.message(key, parameters: _*), null: Throwable)

  /** @param parameters of the error's message */
  def this(cause: Throwable, key: String, parameters: (String, String)*) =
    this(key, Errors.message(key, parameters: _*), cause)

  override def getMessage: String = s"[${Errors.condition(key)}] $text"
  // Asked first of all, on a driver that may have the exception from an executor and has made none itself.
  override def getCondition: String = Condition.known(Errors.condition(key))
  override def getErrorClass: String = getCondition
  override def getMessageParameters: JavaMap[String, String] = JavaMap.of(Condition.Message, text)
  override def getSqlState: String = Errors.sqlState(key)
}
