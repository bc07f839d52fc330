package sparkcer.views

import org.apache.spark.sql.cerbridge.{CerException, CerRuntimeException}

/** The errors of views: one message each, which names the view, the part and the way out. */
private[views] object ViewsException {

  /** A statement that cannot be read or does not fit its sources. */
  def definition(text: String): CerException = of("CER_VIEW_DEFINITION", text)

  /** A table, a view or a part that is not there, or not as it is asked for. */
  def catalog(text: String): CerException = of("CER_VIEW_CATALOG", text)

  def exists(name: String): CerException =
    catalog(s"There is already a table or view '$name'; drop it first, or take another name.")

  /** Rows that a table does not take. */
  def append(text: String): CerException = of("CER_VIEW_APPEND", text)

  /** Parts that are still needed. */
  def needed(text: String): CerException = of("CER_VIEW_NEEDED", text)

  /** A part whose query failed while it ran. */
  def failed(text: String, cause: Throwable): CerRuntimeException = {
    val e = new CerRuntimeException("CER_VIEW_FAILED", text)
    e.addSuppressed(cause)
    e
  }

  private def of(condition: String, text: String) = new CerException(condition, s"[$condition] $text")
}
