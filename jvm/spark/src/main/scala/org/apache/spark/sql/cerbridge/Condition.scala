package org.apache.spark.sql.cerbridge

import java.lang.reflect.InaccessibleObjectException

import org.apache.spark.{ErrorClassesJsonReader, ErrorInfo, SparkThrowableHelper}

/** Error conditions of our own among Spark's.
  *
  * Parts of Spark, PySpark's `getMessage` among them, make the text of an error anew from its condition and its
  * parameters, by a table of Spark's own conditions, and fail for others. So a condition is added to that table before
  * anyone can ask for it. Its text is its one parameter.
  */
private[cerbridge] object Condition {
  val Message = "message"

  /** The condition, which Spark knows from now on. */
  def known(condition: String): String = synchronized {
    val table = SparkThrowableHelper.errorReader.errorInfoMap
    if (!table.contains(condition))
      // Without an SQLSTATE, which would become part of the text.
      Table.foreach(_.set(SparkThrowableHelper.errorReader, table.updated(condition, Info)))
    condition
  }

  private val Info = ErrorInfo(Seq(s"<$Message>"), None, None)

  /** The field of the table; None on a Spark of others that keeps it elsewhere: errors arrive there all the same. */
  private val Table =
    try {
      val field = classOf[ErrorClassesJsonReader].getDeclaredField("errorInfoMap")
      field.setAccessible(true)
      Some(field)
    } catch { case _: NoSuchFieldException | _: InaccessibleObjectException => None }
}
