// The runners measure in a Java of their own, with nothing else in it: the engine with a collector that takes no time from
// its thread, Spark (-Dbench.gc=G1) with the one that it has unless told otherwise. The heap has room for the state of a
// million keys, 1.3 GB: in one of 4 GB, G1 marks it again and again, on the cores that are measured.
Compile / run / mainClass := Some("sparkcer.benchmarks.EngineBenchmark")
run / fork := true
run / baseDirectory := (ThisBuild / baseDirectory).value // files that are named on the command line
run / javaOptions ++= Seq(
  "-Xmx8g",
  s"-XX:+Use${sys.props.getOrElse("bench.gc", "Serial")}GC",
  "-Dspark.ui.enabled=false"
)

// For SparkBenchmark: what Spark needs opened, as in the tests of the Spark layer, and its log. The tests' heap, collector
// and compiler (-X...) stay out: those are chosen for suites that are over in seconds. So does their folder of temporary
// files, which is there only while they run.
run / javaOptions ++= (LocalProject("spark") / Test / javaOptions).value
  .filterNot(o => o.startsWith("-X") || o.startsWith("-Djava.io.tmpdir"))
