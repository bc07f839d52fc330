package sparkcer.peers

import org.apache.flink.api.common.typeinfo.{TypeInformation, Types}
import org.apache.flink.cep.CEP
import org.apache.flink.cep.functions.PatternProcessFunction
import org.apache.flink.streaming.api.datastream.{DataStreamUtils, KeyedStream}
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink
import org.apache.flink.util.Collector

/** Flink CEP on the DataStream API. The stream is said to be keyed already, so that events go from the source to the
  * automaton in one thread, without being written into a buffer of the network.
  */
object FlinkCepPeer extends Peer {
  def main(args: Array[String]): Unit = new Measure(this).main(args)

  def load(job: Job): Loaded = new Loaded {
    private val events = EventFile.events(job.file, job.events)
    private val statements = job.statements.map(FlinkPattern.read)
    def size: Int = events.length
    def newPass(): Pass = new FlinkCepPass(events, statements)
  }
}

final private class FlinkCepPass(events: Array[Event], statements: Vector[FlinkPattern]) extends Pass {
  FlinkRun.events = events
  FlinkRun.found.reset()
  private val environment = FlinkRun.environment()
  private val source = FlinkRun.source(environment)
  statements.foreach { s =>
    val matches = CEP
      .pattern(keyed(s.by), s.pattern)
      .process(new CountMatches, Types.LONG.asInstanceOf[TypeInformation[java.lang.Long]])
    matches.sinkTo(new DiscardingSink[java.lang.Long])
  }

  private def keyed(by: String): KeyedStream[Event, _] = by match {
    case "key" => DataStreamUtils.reinterpretAsKeyedStream(source, new ByKey, Types.LONG)
    case _     => DataStreamUtils.reinterpretAsKeyedStream(source, new AsOne, Types.INT)
  }

  def run(feed: Feed): Long = {
    FlinkRun.feed = feed
    environment.execute(): Unit
    FlinkRun.found.sum
  }

  def matches: Long = FlinkRun.found.sum
  def close(): Unit = environment.close()
}

final class CountMatches extends PatternProcessFunction[Event, java.lang.Long] {
  override def processMatch(
      found: java.util.Map[String, java.util.List[Event]],
      context: PatternProcessFunction.Context,
      out: Collector[java.lang.Long]
  ): Unit = FlinkRun.found.increment()
}
