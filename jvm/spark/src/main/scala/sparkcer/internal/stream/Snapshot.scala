package sparkcer.internal.stream

import java.nio.ByteBuffer

import org.apache.spark.sql.{Column, DataFrame, Dataset, Encoders}
import org.apache.spark.sql.expressions.Window
import org.apache.spark.sql.functions._
import org.apache.spark.sql.cerbridge.{CerException, Columns}
import org.apache.spark.sql.types.StructType

import sparkcer.Cer
import sparkcer.internal.batch.{Batch, Spread}
import sparkcer.internal.bind.{Binding, Earliest, Options, Plan}
import sparkcer.internal.output.MatchColumns
import sparkcer.internal.prepare.AsLong
import sparkcer.engine.ceql.Consume

/** The matches of a query that ended within the last window before some time, bounds included.
  *
  * A snapshot finds them again in the events of the last two windows: a match that ended in the last window started in
  * one of them. So it costs as much as a batch over two windows, and a stream with `snapshots` keeps these events
  * beside its partial matches. (Where a query begins with `NO … FOR`, also those that long before them.) The paper on
  * CEP and dynamic query evaluation (Ugarte, Vansummeren; Section 5) explains why: no state is known that both has
  * constant update time and can list all matches of the window with constant delay.
  */
object Snapshot {

  /** Of a batch.
    *
    * @param at
    *   the time of the snapshot, by default that of the last event
    */
  def batch(df: DataFrame, query: String, options: Options, at: Option[Column]): DataFrame = Cer.inWords {
    if (df.isStreaming)
      throw new CerException("CER_SNAPSHOT.NO_CHECKPOINT")
    val b = Binding.of(df, query, options)
    val back = window(b)
    val time = AsLong.of(b.columnOf(b.time))
    val now = at.fold(df.agg(max(time)).scalar())(t => AsLong.of(t.cast(b.time.dataType)))
    val past = if (at.isDefined) df.where(time <= now) else df
    // What was consumed before, and which matches LIMIT picks, can depend on all events.
    val dependent = b.program.query.consumeBy != Consume.None || b.program.query.limit.isDefined
    val events = if (dependent) past else past.where(time >= reached(b)(back(back(now))))
    // All events are known, those after the snapshot too. So what is decided at that time is known.
    val until = b.waiting.until.map(u => at.fold(u)(_ => Columns.resolve(df, least(now, Columns.column(u)))))
    Cer.batch(events, query, options, until).where(AsLong.of(col("end")) >= back(now))
  }

  /** Of a stream that runs with `snapshots`, as of its last micro-batch. The last window ends with the latest event
    * that was read, which with a watermark is one that no other can come before; or at a later time. It has the matches
    * that the stream has returned: what waits for a deadline is not decided.
    *
    * @param df
    *   the stream's events, for their columns
    */
  def stream(
      df: DataFrame,
      query: String,
      options: Options,
      at: Option[Column],
      checkpoint: String
  ): DataFrame = Cer.inWords {
    if (!df.isStreaming) throw new CerException("CER_SNAPSHOT.CHECKPOINT_OF_BATCH")
    val b = Binding.of(df, query, options.copy(snapshots = true))
    val back = window(b)
    if (b.program.query.consumeBy != Consume.None || b.program.query.limit.isDefined)
      throw new CerException("CER_SNAPSHOT.CONSUME_OR_LIMIT")
    val plan = planOf(Plan.of(b, query, options.copy(snapshots = true)))
    // In one pass: loading the state twice would cost more than having the last window in one partition.
    val latest = max("latest").over(Window.partitionBy())
    val now = at.fold(latest)(t => greatest(latest, AsLong.of(t.cast(b.time.dataType))))
    val found = rows(pieces(df, checkpoint), plan).withColumn("from", back(now)).where("row IS NOT NULL")
    MatchColumns(MatchColumns.unpackedMatches(found, plan, col("from")), b, plan)
  }

  /** The start of the window that ends at a time. */
  private def window(b: Binding): Column => Column = {
    if (b.windowSize.isEmpty || b.windowColumn != b.time)
      throw new CerException("CER_SNAPSHOT.NO_WINDOW")
    earlier(b, b.windowSize.get)
  }

  /** The time of the first event that matters for a match that starts at a time. */
  private def reached(b: Binding): Column => Column =
    b.lookingBack.lengths.maxOption.fold(identity[Column] _)(earlier(b, _))

  private def earlier(b: Binding, size: BigDecimal): Column => Column =
    time => Columns.column(Earliest(Columns.expression(time), b.windowClock, size))

  /** The logs of all buckets after the last micro-batch. */
  private def pieces(df: DataFrame, checkpoint: String): Dataset[Piece] = {
    val spark = df.sparkSession
    val operators = spark.read
      .format("state-metadata")
      .load(checkpoint)
      .where("operatorName LIKE 'transformWithState%'")
      .select("operatorId")
      .distinct()
      .as[Long](Encoders.scalaLong)
      .collect()
    if (operators.length != 1)
      throw new CerException("CER_SNAPSHOT.OPERATORS", "operators" -> operators.length.toString)
    val log = spark.read
      .format("statestore")
      .option("stateVarName", "log")
      .option("operatorId", operators.head)
      .load(checkpoint)
    // Each column is a struct with one field.
    def value(column: String) = log.schema(column).dataType match {
      case s: StructType => col(column).getField(s.head.name)
      case _             => col(column)
    }
    log
      .select(
        value("key").as("bucket"),
        value("user_map_key").as("number"),
        value("user_map_value").as("bytes")
      )
      .as[Piece](Encoders.product[Piece])
  }

  private def rows(pieces: Dataset[Piece], plan: Plan): Dataset[Found] =
    pieces
      .groupByKey((p: Piece) => p.bucket)(Encoders.scalaInt)
      .flatMapGroups((_: Int, pieces: Iterator[Piece]) => found(plan, pieces))(Encoders.product[Found])

  /** The matches in the last two windows of a bucket, from the pieces of its log, and its latest time.
    *
    * @param plan
    *   without a watermark
    */
  private[sparkcer] def found(plan: Plan, pieces: Iterator[Piece]): Iterator[Found] = {
    val (about, log) = pieces.toVector.partition(_.number == BucketLog.About)
    // A log can be read whatever the number of buckets.
    about.map(p => LogAbout.read(p.bytes)).foreach { written =>
      written.mustFit(LogAbout.of(plan, written.meaning.fold(0)(_.buckets)), plan.stream.state.first)
    }
    val bucket = Bucket.load(plan, log.sortBy(_.number).map(_.bytes), LogHead.Empty)
    val events = bucket.recentEvents
    val byKey = events.sortBy(e => ByteBuffer.wrap(e.key)) // stable: in order inside each key
    val until = if (plan.window.waits.isEmpty) Long.MaxValue else bucket.complete
    val matches = new Batch(plan, Spread.ByKey(inTime = false), until = until)(byKey.iterator)
    matches.map(r => Found(r.copy().getBytes, Long.MinValue)) ++ events.map(_.time).maxOption.map(Found(null, _))
  }

  /** The plan of a stream for a snapshot of it. The matches are those of a batch. */
  private[sparkcer] def planOf(stream: Plan): Plan =
    stream.copy(stream = stream.stream.copy(watermark = None, lateRows = false))
}

/** A piece of a bucket's log. */
final private[sparkcer] case class Piece(bucket: Int, number: Long, bytes: Array[Byte])

/** A match, or the latest time of a bucket. */
final private[sparkcer] case class Found(row: Array[Byte], latest: Long)
