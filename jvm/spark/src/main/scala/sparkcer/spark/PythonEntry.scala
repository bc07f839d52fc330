package sparkcer.spark

import org.apache.spark.sql.DataFrame

/** What the Python package calls. Null stands for None. */
object PythonEntry {
  def transform(
      df: DataFrame,
      query: String,
      time: String,
      eventType: String,
      order: String,
      lateRows: Boolean,
      idle: String
  ): DataFrame = Cer(df, query, Options(Option(time), Option(eventType), Option(order), lateRows, Option(idle)))
}
