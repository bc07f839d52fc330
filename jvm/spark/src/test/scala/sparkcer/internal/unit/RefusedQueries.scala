package sparkcer.internal.unit

import org.apache.spark.sql.SparkSession

import sparkcer._
import sparkcer.engine.error.Errors
import sparkcer.engine.testkit.ErrorCase

/** Queries over a batch of events that are refused, and what the errors say. */
abstract private[unit] class RefusedQueries(spark: SparkSession) {
  import spark.implicits._

  protected val events = Seq(("A", 1L, 5.0, "x")).toDF("type", "t", "price", "id")
  protected val columns = "The columns are type, t, price, id."

  protected def error(key: String, message: String)(code: => Any): ErrorCase =
    new ErrorCase(key, s"[${Errors.condition(key)}] $message", code)

  /** A query of one line that is refused at the last place where it has a text. */
  protected def refused(key: String, query: String, place: String, problem: String)(run: String => Any): ErrorCase = {
    val at = query.lastIndexOf(place)
    error(key, s"Line 1, column ${at + 1}: $problem\n$query\n${" " * at}^")(run(query))
  }

  protected def filter(key: String, condition: String, place: String, problem: String): ErrorCase =
    refused(key, s"SELECT * FROM S WHERE (A AS x ; B AS y) FILTER $condition", place, problem)(
      events.cer(_, time = "t")
    )
}
