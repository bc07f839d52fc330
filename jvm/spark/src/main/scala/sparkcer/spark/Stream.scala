package sparkcer.spark

import scala.collection.mutable

import org.apache.spark.sql.{Column, Dataset, Encoder, Encoders, SparkSession}
import org.apache.spark.sql.functions.{col, hash, lit, pmod, sum}
import org.apache.spark.sql.sparkcer.CerException
import org.apache.spark.sql.streaming._

import sparkcer.engine.evaluate.{Partitions, Substream}

/** A query over a stream, on `transformWithState`.
  *
  * Events are grouped by *bucket*, a part of the keys, not by key: one state of its own for every key costs more than
  * the evaluation. A bucket's state is a log of pieces (see [[Partitions]]): each micro-batch appends what it changed,
  * and from time to time the log is replaced by one full piece, so that what is written goes with the events read.
  *
  * Without a watermark events are taken in the order of micro-batches, and in time order inside one. An event that is
  * older than the last one of its key comes too late; it is counted (`late` in the observed metrics `spark_cer`), never
  * dropped in silence.
  */
object Stream {

  private val Provider = "spark.sql.streaming.stateStore.providerClass"
  private val RocksDb = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

  def matches(events: Dataset[Event], plan: Plan, spark: SparkSession): Dataset[Array[Byte]] = {
    checkStore(spark)
    implicit val bucketed: Encoder[BucketEvent] = Encoders.product[BucketEvent]
    implicit val ints: Encoder[Int] = Encoders.scalaInt
    implicit val output: Encoder[StreamOutput] = Encoders.product[StreamOutput]
    val buckets = if (plan.schema.key.isEmpty) 1 else spark.conf.get("spark.sql.shuffle.partitions").toInt
    val bucket: Column = pmod(hash(col("key")), lit(buckets))
    events
      .toDF()
      .select(
        bucket.as("bucket"),
        org.apache.spark.sql.functions.struct(events.columns.map(col).toIndexedSeq: _*).as("event")
      )
      .as[BucketEvent]
      .groupByKey(_.bucket)
      .transformWithState(new Processor(plan), TimeMode.None(), OutputMode.Append())
      .toDF()
      .observe("spark_cer", sum(col("late")).as("late"))
      .where("row IS NOT NULL")
      .select("row")
      .as[Array[Byte]](Encoders.BINARY)
  }

  private def checkStore(spark: SparkSession): Unit =
    if (!spark.conf.get(Provider, "").endsWith("RocksDBStateStoreProvider"))
      throw new CerException(
        "CER_STATE_STORE",
        s"""[CER_STATE_STORE] A query over a stream keeps its state in RocksDB. Start the session with spark_cer.session(), or add this line before the query starts:
           |spark.conf.set("$Provider", "$RocksDb")""".stripMargin
      )
}

/** An event and the bucket of its key. */
final case class BucketEvent(bucket: Int, event: Event)

/** A match row, or, with no row, how many events came too late. */
final case class StreamOutput(row: Array[Byte], late: Long)

/** Evaluates the events of a bucket. */
final class Processor(plan: Plan) extends StatefulProcessor[Int, BucketEvent, StreamOutput] {
  @transient private var log: MapState[Long, Array[Byte]] = _

  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit =
    log = getHandle.getMapState[Long, Array[Byte]]("log", Encoders.scalaLong, Encoders.BINARY, TTLConfig.NONE)

  override def handleInputRows(
      bucket: Int,
      rows: Iterator[BucketEvent],
      timers: TimerValues
  ): Iterator[StreamOutput] = {
    val recognizer = new Recognizer(plan)
    val pieces = log.iterator().toVector.sortBy(_._1)
    val partitions = Partitions.load(recognizer.evaluator, pieces.map(_._2))
    val ties = mutable.HashMap.empty[Substream, Ties]
    val found = mutable.ArrayBuffer.empty[StreamOutput]
    var late = 0L
    inOrder(rows).foreach { e =>
      val substream = partitions.getOrCreate(e.key)
      val of = ties.getOrElseUpdate(substream, Ties.load(substream.attachment))
      if (of.lastTime.exists(_ > e.time)) late += 1
      else recognizer.read(substream, of, e)(row => found += StreamOutput(row, 0))
    }
    ties.foreach { case (substream, of) => substream.attach(of.save()) }
    append(pieces, partitions)
    if (late > 0) found += StreamOutput(null, late)
    found.iterator
  }

  /** Spark hands a group over in the order in which it fetches it. */
  private def inOrder(rows: Iterator[BucketEvent]): Array[Event] = {
    val events = rows.map(_.event).toArray
    java.util.Arrays.sort(
      events,
      (a: Event, b: Event) => {
        val byTime = java.lang.Long.compare(a.time, b.time)
        val byOrder = if (byTime != 0) byTime else java.lang.Long.compare(a.order, b.order)
        if (byOrder != 0) byOrder else java.lang.Long.compare(a.arrival, b.arrival)
      }
    )
    events
  }

  /** Adds a piece with what changed; when the pieces are together larger than twice a full one, one full piece takes
    * their place.
    */
  private def append(pieces: Vector[(Long, Array[Byte])], partitions: Partitions): Unit = {
    val next = pieces.lastOption.fold(0L)(_._1 + 1)
    val firstBytes = pieces.headOption.fold(0)(_._2.length)
    val laterBytes = pieces.drop(1).map(_._2.length).sum
    if (pieces.nonEmpty && laterBytes <= 2 * firstBytes + Processor.SmallLog)
      log.updateValue(next, partitions.saveChanges())
    else {
      pieces.foreach { case (n, _) => log.removeKey(n) }
      log.updateValue(next, partitions.save())
    }
  }
}

private object Processor {

  /** Bytes of log that are not worth replacing. */
  val SmallLog = 65536
}
