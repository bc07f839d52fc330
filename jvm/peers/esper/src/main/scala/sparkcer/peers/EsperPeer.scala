package sparkcer.peers

import com.espertech.esper.common.client.configuration.Configuration
import com.espertech.esper.common.client.{EPCompiled, EventBean}
import com.espertech.esper.common.client.util.EventTypeBusModifier
import com.espertech.esper.compiler.client.{CompilerArguments, EPCompilerProvider}
import com.espertech.esper.runtime.client.{EPRuntimeProvider, EPRuntime, EPStatement, UpdateListener}

/** Esper with a clock that the events set. Events are objects, whose getters it calls from generated code. */
object EsperPeer extends Peer {
  def main(args: Array[String]): Unit = new Measure(this).main(args)

  def load(job: Job): Loaded = new Loaded {
    private val events = EventFile.events(job.file, job.events)
    private val configuration = new Configuration
    configuration.getCommon.addEventType("E", classOf[Event])
    configuration.getCompiler.getByteCode.setAccessModifiersPublic()
    configuration.getCompiler.getByteCode.setBusModifierEventType(EventTypeBusModifier.BUS)
    configuration.getRuntime.getThreading.setInternalTimerEnabled(false)
    // Neither metrics nor locks for several threads that nobody has.
    configuration.getRuntime.getThreading.setListenerDispatchPreserveOrder(false)
    configuration.getRuntime.getThreading.setInsertIntoDispatchPreserveOrder(false)
    private val compiled: Vector[EPCompiled] =
      job.statements.map(s => EPCompilerProvider.getCompiler.compile(s, new CompilerArguments(configuration)))

    def size: Int = events.length
    def newPass(): Pass = new EsperPass(events, configuration, compiled)
  }
}

final private class EsperPass(events: Array[Event], configuration: Configuration, compiled: Vector[EPCompiled])
    extends Pass
    with UpdateListener {
  @volatile private var found = 0L
  private val runtime = EPRuntimeProvider.getRuntime("peers", configuration)
  runtime.initialize()
  private val service = runtime.getEventService
  service.advanceTime(if (events.isEmpty) 0L else events(0).ts)
  compiled.foreach(c => runtime.getDeploymentService.deploy(c).getStatements.foreach(_.addListener(this)))

  def update(now: Array[EventBean], old: Array[EventBean], statement: EPStatement, runtime: EPRuntime): Unit =
    if (now != null) found += now.length

  def run(feed: Feed): Long = {
    val sender = service.getEventSender("E")
    var time = Long.MinValue
    var i = feed.next()
    while (i >= 0) {
      val event = events(i)
      if (event.ts != time) { time = event.ts; service.advanceTime(time) }
      sender.sendEvent(event)
      i = feed.next()
    }
    found
  }

  def matches: Long = found
  def close(): Unit = runtime.destroy()
}
