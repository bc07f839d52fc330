package sparkcer.peers

import java.util.concurrent.atomic.LongAdder

import scala.annotation.nowarn

import org.apache.flink.api.common.typeinfo.{TypeInformation, Types}
import org.apache.flink.api.java.functions.KeySelector
import org.apache.flink.configuration.{Configuration, RestOptions, StateBackendOptions, TaskManagerOptions, MemorySize}
import org.apache.flink.streaming.api.datastream.DataStream
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment
import org.apache.flink.streaming.api.functions.source.legacy.SourceFunction
import org.apache.flink.streaming.api.watermark.Watermark

/** A Flink in this process: one task slot, state on the heap, objects handed on without copies, no checkpoints. What is
  * at hand is kept here, because Flink makes copies of functions.
  */
object FlinkRun {
  @volatile var events: Array[Event] = Array.empty
  @volatile var feed: Feed = null

  /** Several statements may be counted by several threads. */
  val found = new LongAdder

  val event: TypeInformation[Event] = Types.POJO(classOf[Event])

  def environment(): StreamExecutionEnvironment = {
    val c = new Configuration
    c.set(StateBackendOptions.STATE_BACKEND, "hashmap")
    c.set(RestOptions.BIND_PORT, "0")
    c.set(TaskManagerOptions.NETWORK_MEMORY_MIN, MemorySize.parse("16m"))
    c.set(TaskManagerOptions.NETWORK_MEMORY_MAX, MemorySize.parse("16m"))
    val environment = StreamExecutionEnvironment.createLocalEnvironment(1, c)
    environment.getConfig.enableObjectReuse()
    environment
  }

  @nowarn("cat=deprecation") // see FeedSource
  def source(environment: StreamExecutionEnvironment): DataStream[Event] =
    environment.addSource(new FeedSource, "events", event)
}

/** Events with their times, and a watermark after every hundred: Flink's own come every 200 ms, which is more events.
  *
  * The older interface of sources, because it runs in the thread of the automaton and a new one would be five classes.
  */
@nowarn("cat=deprecation")
final class FeedSource extends SourceFunction[Event] {
  override def run(context: SourceFunction.SourceContext[Event]): Unit = {
    val (events, feed) = (FlinkRun.events, FlinkRun.feed)
    var i = feed.next()
    while (i >= 0) {
      val event = events(i)
      context.collectWithTimestamp(event, event.ts)
      if (i % FeedSource.Between == 0) context.emitWatermark(new Watermark(event.ts - 1))
      i = feed.next()
    }
  }
  override def cancel(): Unit = ()
}

object FeedSource { private val Between = 100 }

final class ByKey extends KeySelector[Event, java.lang.Long] {
  override def getKey(e: Event): java.lang.Long = e.key
}

final class AsOne extends KeySelector[Event, Integer] {
  override def getKey(e: Event): Integer = 0
}
