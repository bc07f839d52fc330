package sparkcer.internal.unit

import java.sql.Timestamp

import org.apache.spark.sql.{SparkSession, SQLContext}

import sparkcer._
import sparkcer.engine.testkit.ErrorCase
import sparkcer.internal.testkit.Memory.MemoryStream

/** All errors of queries that end with `NO … FOR` which come from their columns and options. */
final private[unit] class WaitingErrors(spark: SparkSession) extends RefusedQueries(spark) {
  import spark.implicits._
  implicit private val sqlContext: SQLContext = spark.sqlContext

  private val query = "SELECT * FROM S WHERE A ; NO B FOR 5 [t]"
  private def stream = MemoryStream[(String, Timestamp)].toDF().toDF("type", "ts")

  def cases: Vector[ErrorCase] = Vector(
    refused(
      "CER_ABSENCE.AFTER_OTHER_COLUMN",
      "SELECT * FROM S WHERE A ; NO B FOR 5 [price]",
      "B",
      "NO at the end waits for the time to pass, but 'price' is not the time column, which is 't'. " +
        "Measure both FOR and WITHIN by the time column."
    )(events.cer(_, time = "t")),
    refused(
      "CER_ABSENCE.AFTER_TYPE",
      "SELECT * FROM S WHERE A ; NO B FOR 5 [price]",
      "B",
      "NO at the end needs a time column that is a timestamp, a date, a whole number or a decimal, " +
        "but 'price' is DOUBLE, whose sums are rounded."
    )(events.cer(_, time = "price")),
    refused(
      "CER_ABSENCE.AFTER_WATERMARK",
      "SELECT * FROM S WHERE A ; NO B FOR 5 minutes",
      "B",
      "NO at the end needs a watermark on a stream, because nothing else tells that the time has passed. " +
        "Set one on the time column: events.withWatermark('ts', '10 minutes')."
    )(stream.cer(_, time = "ts")),
    refused(
      "CER_ABSENCE.AFTER_IDLE",
      "SELECT * FROM S WHERE A ; NO B FOR 5 minutes",
      "B",
      "idle='1 minute' drops the state of keys whose matches still wait FOR 5 minutes. Make idle at least as long."
    )(stream.withWatermark("ts", "1 minute").cer(_, idle = "1 minute")),
    error(
      "CER_UNTIL.NOTHING_WAITS",
      "until is only for a query that ends with NO … FOR: other matches do not depend on what comes after them. Leave it out."
    )(events.cer("SELECT * FROM S WHERE A", time = "t", until = "3")),
    error(
      "CER_UNTIL.NO_TIME",
      "until='soon' is not a value of the time column 't', which is BIGINT. " +
        "Write a value of that type, or until='forever'."
    )(events.cer(query, time = "t", until = "soon")),
    error(
      "CER_UNTIL.STREAM",
      "until is for a batch. A stream returns a match when the watermark has passed its end. Leave it out."
    )(
      stream.withWatermark("ts", "1 minute").cer("SELECT * FROM S WHERE A ; NO B FOR 5 minutes", until = "forever")
    ),
    refused(
      "CER_ABSENCE.BEFORE_OTHER_COLUMN",
      "SELECT * FROM S WHERE NO B FOR 5 [price] ; A ; A",
      "B",
      "NO at the beginning looks back in time, but 'price' is not the time column, which is 't'. " +
        "Measure FOR by the time column."
    )(events.cer(_, time = "t")),
    refused(
      "CER_ABSENCE.BEFORE_IDLE",
      "SELECT * FROM S WHERE NO B FOR 5 minutes ; A",
      "B",
      "idle='1 minute' drops the state of a key that is looked back at FOR 5 minutes. Make idle at least as long."
    )(stream.withWatermark("ts", "1 minute").cer(_, idle = "1 minute"))
  )
}
