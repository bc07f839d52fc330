package sparkcer.benchmarks

import org.apache.spark.sql.{DataFrame, Encoder, Encoders}
import org.apache.spark.sql.functions.{col, hash, lit, pmod}
import org.apache.spark.sql.streaming.{OutputMode, StatefulProcessor, TimeMode, TimerValues}

/** The yardstick of streams: Spark's own operator for state, which passes events on and keeps nothing. It has as many
  * groups as a query has buckets, so Spark does the same for both before and after the operator.
  */
final class PassThrough extends StatefulProcessor[Int, Stock, Stock] {
  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit = ()
  override def handleInputRows(group: Int, events: Iterator[Stock], timers: TimerValues): Iterator[Stock] = events
}

object PassThrough {
  private val Groups = 2

  /** @param filter
    *   the events that the query would keep
    * @param by
    *   the column that its groups come from; None if it has one group
    * @param watermarked
    *   whether the events have a watermark, with which Spark runs a micro-batch without events now and then
    */
  def apply(events: DataFrame, filter: String, by: Option[String], watermarked: Boolean): DataFrame = {
    implicit val stock: Encoder[Stock] = Encoders.product[Stock]
    implicit val ints: Encoder[Int] = Encoders.scalaInt
    val group = by.fold(lit(0))(c => pmod(hash(col(c)), lit(Groups)))
    events
      .where(filter)
      .withColumn("bucket", group)
      .groupBy("bucket")
      .as[Int, Stock]
      .transformWithState(
        new PassThrough,
        if (watermarked) TimeMode.EventTime() else TimeMode.None(),
        OutputMode.Append()
      )
      .toDF()
  }
}
