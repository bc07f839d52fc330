package sparkcer.internal.simulation

import java.nio.ByteBuffer
import java.nio.file.Files
import java.sql.Timestamp
import java.util.concurrent.{Callable, ExecutionException, Executors}

import scala.collection.mutable
import scala.util.Random

import org.apache.spark.sql.{DataFrame, Dataset, Encoder, Encoders, SQLContext}
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.streaming.StreamingQuery

import sparkcer.engine.testkit.Properties
import sparkcer.internal.prepare.Event
import sparkcer.internal.stream.StreamQuery
import sparkcer.internal.testkit.Memory.MemoryStream
import sparkcer.internal.testkit.SparkSuite

/** The schedules of the simulation as streams of Spark, so that the simulation is known to behave as Spark does: after
  * each delivery of events both have returned as many rows, and in the end the same rows, late events and metrics.
  */
class RealSparkSuite extends SparkSuite {
  import RealSparkSuite._

  private val seeds = sys.env.get("CER_SIMULATION").map(s => Vector(Schedule.read(s).seed)).getOrElse {
    val candidates = Iterator.continually(Random.nextInt(1 << 30).toLong).filter(isShort)
    candidates.take(if (Properties.Long) 96 else 12).toVector
  }

  test("streams of Spark do what the simulated ones do") {
    val threads = Executors.newFixedThreadPool(AtOnce) // a micro-batch mostly waits
    try seeds.map(seed => threads.submit((() => check(seed)): Callable[Unit])).foreach(_.get())
    catch { case e: ExecutionException => throw e.getCause }
    finally threads.shutdownNow(): Unit
  }

  private def check(seed: Long): Unit = {
    val schedule = calmed(Schedule(seed))
    val simulated = new SimulatedQuery(schedule)
    simulated()
    val real = new RealSpark(schedule)
    def same[A](found: A, expected: A, what: String): Unit =
      assertEquals(found, expected, s"$what, CER_SIMULATION=$seed: ${schedule.show}")
    try {
      real()
      real.stop()
      same(real.rows.sorted.toVector, simulated.rows.sorted.toVector, "rows")
      same(real.late.sorted.toVector, simulated.lateRows.sorted.toVector, "late events")
      Metrics.foreach(m => same(real.count(m), simulated.count(m), m))
      same(real.perStep.toVector, simulated.perStep.toVector, "rows after each delivery")
    } finally real.end()
  }

  /** The stream of a schedule. */
  final private class RealSpark(schedule: Schedule) {
    private val world = schedule.world
    private val session = SparkSuite.spark.newSession()
    Settings.foreach(s => session.conf.set(s, SparkSuite.spark.conf.get(s)))
    session.conf.set("spark.sql.shuffle.partitions", schedule.buckets.toString)
    implicit private val sqlContext: SQLContext = session.sqlContext
    private val folder = Files.createTempDirectory("simulation").toString
    implicit private val delivery: Encoder[Delivery] = Encoders.product[Delivery]
    private val input = MemoryStream[Delivery]
    private val metrics = mutable.Map.empty[String, Long].withDefaultValue(0L)
    val rows: mutable.ArrayBuffer[ByteBuffer] = mutable.ArrayBuffer.empty
    val late: mutable.ArrayBuffer[ByteBuffer] = mutable.ArrayBuffer.empty
    val perStep: mutable.ArrayBuffer[Int] = mutable.ArrayBuffer.empty
    private var running: StreamingQuery = start()

    def count(metric: String): Long = metrics(metric)

    def apply(): Unit = {
      val rng = new Random(schedule.seed)
      schedule.microBatches.foreach { case (events, _, _) =>
        // Spark saves the smallest watermark of several inputs only. After a restart it stands until each has events again.
        if (rng.nextInt(4) == 0 && schedule.inputs == 1) { stop(); running = start() }
        step(deliveries(events))
      }
      if (schedule.watermarked)
        step((0 until schedule.inputs).map(Delivery(_, new Timestamp(SimulatedSpark.Far), null)).toVector)
    }

    private def step(some: Vector[Delivery]): Unit = {
      input.addData(some)
      running.processAllAvailable()
      perStep += rows.length
    }

    /** The events with their times, and the row of numbers that production code adds to each micro-batch. */
    private def deliveries(events: Vector[Int]): Vector[Delivery] = {
      val picked = events.map(i => (i, world.pick(i)))
      val all = picked.map { case (i, e) =>
        val at = world.timeOf(i).map(DateTimeUtils.toJavaTimestamp).orNull
        Delivery(schedule.inputOf(i), at, e.toOption.orNull)
      }
      if (events.isEmpty) all
      else all :+ Delivery(0, null, SimulatedQuery.tally(SimulatedSpark.counted(picked.map(_._2))))
    }

    private def start(): StreamingQuery = {
      val events = (0 until schedule.inputs)
        .map { i =>
          val mine = input.toDF().where(s"input = $i") // one source, so that all inputs get their events at once
          if (schedule.watermarked) mine.withWatermark("at", s"${schedule.delayOf(i)} milliseconds") else mine
        }
        .reduce(_ union _)
        .as[Delivery]
        .flatMap(d => Option(d.event))(Encoders.product[Event]) // a filter would be pushed below the watermark
      val take: (DataFrame, Long) => Unit = (found, _) => {
        found.select("row", "late").collect().foreach { r =>
          if (!r.isNullAt(0)) rows += ByteBuffer.wrap(r.getAs[Array[Byte]](0))
          else late += ByteBuffer.wrap(r.getAs[Array[Byte]](1))
        }
      }
      matches(events).writeStream.foreachBatch(take).option("checkpointLocation", folder).start()
    }

    private def matches(events: Dataset[Event]): DataFrame =
      StreamQuery.matches(events, world.plan, world.oneTask, session)

    def end(): Unit = running.stop()

    /** Stops the stream after it has said what it counted. */
    def stop(): Unit = {
      running.recentProgress.flatMap(p => Option(p.observedMetrics.get("m"))).foreach { row =>
        Metrics.foreach(m => metrics(m) += row.getAs[Long](m))
      }
      running.stop()
    }
  }
}

object RealSparkSuite {

  /** An event with the time that moves the watermark. */
  final case class Delivery(input: Int, at: Timestamp, event: Event)

  private val Metrics = Vector("input", "dropped", "nullKeys", "nullTimes", "events", "matches", "late")

  private val AtOnce = 4

  private val Settings = Vector(
    "spark.sql.streaming.stateStore.providerClass",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
  )

  /** Micro-batches of Spark cost a good part of a second. */
  private def isShort(seed: Long): Boolean = Verdict.of(seed).isInstanceOf[Verdict.Agrees] && {
    val s = Schedule(seed)
    s.steps < 5 && s.size > 4 && s.waits && !s.chained && s.world.program.comparisons.isEmpty
  }

  private def calmed(s: Schedule): Schedule = s.copy(calm = (0 to s.steps).toSet)
}
