package sparkcer.peers

import org.apache.flink.streaming.api.functions.ProcessFunction
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink
import org.apache.flink.table.api.{DataTypes, Schema}
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment
import org.apache.flink.types.Row
import org.apache.flink.util.Collector

/** MATCH_RECOGNIZE in Flink SQL, over the same source. */
object FlinkSqlPeer extends Peer {
  def main(args: Array[String]): Unit = new Measure(this).main(args)

  def load(job: Job): Loaded = new Loaded {
    private val events = EventFile.events(job.file, job.events)
    def size: Int = events.length
    def newPass(): Pass = new FlinkSqlPass(events, job.statements)
  }
}

final private class FlinkSqlPass(events: Array[Event], statements: Vector[String]) extends Pass {
  FlinkRun.events = events
  FlinkRun.found.reset()
  private val environment = FlinkRun.environment()
  private val tables = StreamTableEnvironment.create(environment)
  private val schema = Schema
    .newBuilder()
    .columnByMetadata("at", DataTypes.TIMESTAMP_LTZ(3), "rowtime")
    .watermark("at", "SOURCE_WATERMARK()")
    .build()
  tables.createTemporaryView("E", FlinkRun.source(environment), schema)
  statements.foreach { s =>
    tables.toDataStream(tables.sqlQuery(s)).process(new CountRows).sinkTo(new DiscardingSink[Row])
  }

  def run(feed: Feed): Long = {
    FlinkRun.feed = feed
    environment.execute(): Unit
    FlinkRun.found.sum
  }

  def matches: Long = FlinkRun.found.sum
  def close(): Unit = environment.close()
}

final class CountRows extends ProcessFunction[Row, Row] {
  override def processElement(row: Row, context: ProcessFunction[Row, Row]#Context, out: Collector[Row]): Unit =
    FlinkRun.found.increment()
}
