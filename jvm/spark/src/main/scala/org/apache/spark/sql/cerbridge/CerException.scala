package org.apache.spark.sql.cerbridge

import java.util.{Map => JavaMap}

import org.apache.spark.SparkRuntimeException
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.trees.Origin

/** An error of spark-cer. In PySpark it arrives as `AnalysisException` with its message and no Java stack.
  *
  * @param text
  *   the whole message, which begins with `[condition]`
  */
class CerException(condition: String, text: String)
    extends AnalysisException(
      text,
      None,
      None,
      None,
      Some(Condition.known(condition)),
      Map(Condition.Message -> text.stripPrefix(s"[$condition] ")),
      Array.empty
    ) {
  override def getMessage: String = text
  override def getSqlState: String = "42000" // syntax error or access rule violation

  /** In SQL, Spark would add where the call of `cer` begins, in an exception that is not of this class. The message is
    * the same at every door.
    */
  override def withPosition(origin: Origin): AnalysisException = this
}

/** An error that only shows when events are read, in a task. Spark hands errors of this family on to the driver, and
  * PySpark has them as `SparkRuntimeException`; any other would arrive as a Java stack.
  *
  * @param text
  *   the message without `[condition]`
  */
class CerRuntimeException(condition: String, text: String)
    extends SparkRuntimeException("USER_RAISED_EXCEPTION", Map("errorMessage" -> text)) {
  override def getMessage: String = s"[$condition] $text"
  // Asked first of all, on a driver that may have the exception from an executor and has made none itself.
  override def getCondition: String = Condition.known(condition)
  override def getErrorClass: String = getCondition
  override def getMessageParameters: JavaMap[String, String] = JavaMap.of(Condition.Message, text)
  override def getSqlState: String = "38000" // external routine exception
}
