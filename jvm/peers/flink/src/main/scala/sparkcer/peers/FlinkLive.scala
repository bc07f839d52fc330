package sparkcer.peers

import java.time.Duration
import java.util.Collections

import scala.annotation.nowarn
import scala.jdk.CollectionConverters._

import org.apache.flink.api.common.functions.OpenContext
import org.apache.flink.api.common.typeinfo.Types
import org.apache.flink.cep.CEP
import org.apache.flink.cep.functions.PatternProcessFunction
import org.apache.flink.streaming.api.datastream.DataStreamUtils
import org.apache.flink.streaming.api.functions.ProcessFunction
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink
import org.apache.flink.streaming.api.functions.source.legacy.SourceFunction
import org.apache.flink.streaming.api.watermark.Watermark
import org.apache.flink.util.Collector
import org.apache.kafka.clients.consumer.KafkaConsumer
import org.apache.kafka.clients.producer.{KafkaProducer, ProducerRecord}
import org.apache.kafka.common.TopicPartition

/** Flink CEP from Kafka to Kafka, until it is ended: `FlinkLive BROKER EVENTS MATCHES`. One slot, in one thread from
  * the source to the sink, state on the heap, no checkpoints: the shortest way that it has.
  */
object FlinkLive {
  private val Pattern =
    """by key
      |begin a kind=A
      |followedByAny b kind=B x=a.x
      |followedByAny c kind=C x=a.x
      |within 10000000""".stripMargin // times are in microseconds

  @nowarn("cat=deprecation") // see FeedSource
  def main(args: Array[String]): Unit = {
    val Vector(broker, events, matches) = args.toVector: @unchecked
    val environment = FlinkRun.environment()
    val source = environment.addSource(new LiveSource(broker, events), "events", FlinkRun.event)
    val keyed = DataStreamUtils.reinterpretAsKeyedStream(source, new ByKey, Types.LONG)
    CEP
      .pattern(keyed, FlinkPattern.read(Pattern).pattern)
      .process(new LastOfMatch, Types.STRING)
      .process(new ToKafka(broker, matches))
      .sinkTo(new DiscardingSink[String])
    environment.execute(): Unit
  }
}

/** A watermark after each event: their times only grow. */
@nowarn("cat=deprecation")
final class LiveSource(broker: String, topic: String) extends SourceFunction[Event] {
  override def run(context: SourceFunction.SourceContext[Event]): Unit = {
    val consumer = new KafkaConsumer[String, String](LiveKafka.properties(broker))
    val partition = Collections.singletonList(new TopicPartition(topic, 0))
    consumer.assign(partition)
    consumer.seekToBeginning(partition)
    println("ready")
    while (true)
      consumer.poll(Duration.ofSeconds(1)).asScala.foreach { r =>
        val event = LiveEvents.parse(r.value)
        context.collectWithTimestamp(event, event.ts)
        context.emitWatermark(new Watermark(event.ts))
      }
  }
  override def cancel(): Unit = ()
}

final class LastOfMatch extends PatternProcessFunction[Event, String] {
  override def processMatch(
      found: java.util.Map[String, java.util.List[Event]],
      context: PatternProcessFunction.Context,
      out: Collector[String]
  ): Unit = {
    val last = found.get("c").get(0)
    out.collect(s"""{"id":${last.id},"ts":${last.ts},"batch":0}""")
  }
}

final class ToKafka(broker: String, topic: String) extends ProcessFunction[String, String] {
  @transient private var producer: KafkaProducer[String, String] = _
  override def open(context: OpenContext): Unit = producer = new KafkaProducer(LiveKafka.properties(broker))
  override def processElement(value: String, c: ProcessFunction[String, String]#Context, o: Collector[String]): Unit =
    producer.send(new ProducerRecord(topic, value)): Unit
}
