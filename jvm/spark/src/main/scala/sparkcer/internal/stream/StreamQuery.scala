package sparkcer.internal.stream

import org.apache.spark.sql.{Column, DataFrame, Dataset, Encoder, Encoders, SparkSession}
import org.apache.spark.sql.catalyst.expressions.KnownNotNull
import org.apache.spark.sql.cerbridge.{CerException, Columns, Plans, Sessions}
import org.apache.spark.sql.functions._
import org.apache.spark.sql.streaming.{OutputMode, StatefulProcessor, TimeMode}
import org.apache.spark.sql.types.{ArrayType, IntegerType, LongType, MetadataBuilder}

import sparkcer.engine.ceql.Consume
import sparkcer.internal.batch.Planning
import sparkcer.internal.bind.{Binding, Plan, PlannedStream}
import sparkcer.internal.prepare.{Event, EventLayout, Prepare, Tally}

/** A query over a stream, on `transformWithState`.
  *
  * Events are grouped by *bucket*, a set of keys, and not by key: a state store entry for every key costs more than the
  * evaluation. The engine of a bucket stays in memory between micro-batches ([[EngineCache]]), and each micro-batch
  * appends what it changed to the log of the bucket ([[BucketLog]]).
  */
object StreamQuery {
  private val Provider = "spark.sql.streaming.stateStore.providerClass"
  private val RocksDb = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
  private val CacheBytes = "spark.cer.engineCacheBytes"

  /** The columns `row` (the bytes of a match row), `end` (its end, with the watermark, if there is one) and `late` (the
    * bytes of a late event).
    */
  def apply(b: Binding, plan: Plan): DataFrame = {
    StreamWarnings.atStart(b, plan)
    val oneTask = b.keys.isEmpty || b.program.query.consumeBy == Consume.Any
    val (prepared, layout) = Prepare.stream(b)
    Planning.on(Sessions.session(b.df))
    val rows = Plans.dataFrame(b.df.sparkSession, Tally(prepared))
    matches(events(rows, layout), plan, oneTask, b.df.sparkSession)
  }

  private def events(rows: DataFrame, layout: EventLayout): Dataset[Event] = {
    def or(there: Boolean, name: String, other: Column) = (if (there) col(name) else other).as(name)
    val more =
      if (layout.masks > 1) array((1 until layout.masks).map(i => col(s"mask$i")): _*)
      else lit(null).cast(ArrayType(LongType))
    rows
      .select(
        or(layout.keyed, "key", lit(EventLayout.NoKey)),
        col("time"),
        (if (layout.clocked) coalesce(col("clock"), lit(0L)) else col("time")).as("clock"),
        (if (layout.clocked) col("clock").isNotNull else lit(true)).as("timed"),
        or(layout.ordered, "order", lit(0L)),
        col("arrival"),
        col("mask0").as("mask"),
        more.as("more"),
        col("payload"),
        col(Tally.Column)
      )
      .as[Event](Encoders.product[Event])
  }

  private[sparkcer] def matches(
      events: Dataset[Event],
      plan: Plan,
      oneTask: Boolean,
      spark: SparkSession
  ): DataFrame = {
    val processor = new Processor(plan, oneTask, cacheBytes(spark))
    run(events, processor, plan.stream, oneTask, spark)(Encoders.product[Event])
  }

  private[sparkcer] def cacheBytes(spark: SparkSession): Option[Long] = spark.conf.getOption(CacheBytes).map(_.toLong)

  /** Events have a column `key`, which decides which bucket they go to.
    *
    * @param tallied
    *   the bucket of a row that is no event
    * @param more
    *   metrics besides those that all streams have
    */
  private[sparkcer] def run[E](
      events: Dataset[E],
      processor: StatefulProcessor[Int, E, StreamOutput],
      stream: PlannedStream,
      oneTask: Boolean,
      spark: SparkSession,
      tallied: Column = bucketOfTally,
      more: Seq[Column] = Nil
  )(implicit event: Encoder[E]): DataFrame = {
    checkStore(spark)
    implicit val ints: Encoder[Int] = Encoders.scalaInt
    implicit val output: Encoder[StreamOutput] = Encoders.product[StreamOutput]
    Sessions.listen(spark, EngineCache.Ended)
    val ofKey = Columns.column(BucketOf(Columns.expression(hash(col("key")))))
    val grouped = events
      .withColumn(
        "bucket",
        if (oneTask) lit(Processor.First) else when(col(Tally.Column).isNotNull, tallied).otherwise(ofKey)
      )
      .groupBy("bucket") // groupByKey with a function would also make an object of every event before the shuffle
      .as[Int, E]
    val rows = stream.watermark match {
      case None    => grouped.transformWithState(processor, TimeMode.None(), OutputMode.Append())
      case Some(w) =>
        if (w.chained) grouped.transformWithState(processor, TimeMode.EventTime(), OutputMode.Append())
        else grouped.transformWithState(processor, "end", OutputMode.Append())
    }
    rows
      .toDF()
      .observe(stream.metrics, measures.head, measures.tail ++ more: _*)
      .where("counts IS NULL")
      .select(col("row"), endOf(stream), col("late"))
  }

  /** A tally goes to the first bucket, and a [[sparkcer.internal.prepare.EventGenerator.Marker]] to the one it names.
    */
  private def bucketOfTally: Column =
    coalesce(get(col(Tally.Column), lit(Tally.Numbers.length)).cast(IntegerType), lit(Processor.First))

  /** The end of a match, with the watermark. For events from a source, Spark sets the watermark itself, and fails the
    * query if a row is not after the watermark of the micro-batch before. Behind another stateful operator the query
    * must not fail for that: only Spark knows when that operator sent its rows. As in a batch, only the rows of late
    * events have no end.
    */
  private def endOf(stream: PlannedStream): Column = stream.watermark.fold(col("end")) { w =>
    val watermark = new MetadataBuilder().putLong(Binding.WatermarkDelay, w.delay / 1000).build()
    val end = if (stream.lateRows) col("end") else Columns.column(KnownNotNull(Columns.expression(col("end"))))
    end.as("end", watermark)
  }

  /** Spark's own aggregates: a task returns them to the driver, which does not know our classes if the jar was added to
    * a running session.
    */
  private val measures: Seq[Column] = Counts.Names.zipWithIndex.map { case (name, i) =>
    val number = get(col("counts"), lit(i))
    coalesce(if (Counts.Largest(name)) max(number) else sum(number), lit(0L)).as(name)
  }

  private def checkStore(spark: SparkSession): Unit =
    if (!spark.conf.get(Provider, "").endsWith("RocksDBStateStoreProvider"))
      throw new CerException("CER_STATE_STORE", "setting" -> Provider, "value" -> RocksDb)
}
