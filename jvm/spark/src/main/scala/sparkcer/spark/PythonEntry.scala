package sparkcer.spark

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.{Column, DataFrame}

/** What the Python package calls. Null stands for None; parameters are columns that `lit` made of their values. */
object PythonEntry {
  def transform(
      df: DataFrame,
      query: String,
      time: String,
      eventType: String,
      order: String,
      lateRows: Boolean,
      idle: String,
      params: java.util.Map[String, Column]
  ): DataFrame =
    Cer(
      df,
      query,
      Options(Option(time), Option(eventType), Option(order), lateRows, Option(idle), params.asScala.toMap)
    )
}
