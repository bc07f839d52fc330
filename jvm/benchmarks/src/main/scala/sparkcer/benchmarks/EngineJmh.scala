package sparkcer.benchmarks

import java.util.concurrent.TimeUnit

import org.openjdk.jmh.annotations._

import sparkcer.engine.evaluate.Program

/** Three workloads under JMH, for comparing two versions of the engine; [[EngineBenchmark]] has them all. Time a pass
  * over the stream.
  */
@State(Scope.Thread)
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
class EngineJmh {
  @Param(Array("S3", "S24", "S3-count"))
  var workload: String = _

  @Param(Array("500000"))
  var events: Int = _

  private var run: Run = _

  @Setup
  def prepare(): Unit = {
    val w = Workload(workload)
    val stream = Streams(w.stream, events)
    val program = Program(w.query)
    run = new Run(w, program, stream, Run.masks(stream, program))
  }

  @Benchmark def update(): Outcome = run(visit = false, masked = true)
  @Benchmark def total(): Outcome = run(visit = true, masked = true)
}
