// The runner measures in a Java of its own, with nothing else in it and a collector that takes no time from its thread.
Compile / run / mainClass := Some("sparkcer.benchmarks.EngineBenchmark")
run / fork := true
run / javaOptions ++= Seq("-Xmx2g", "-XX:+UseSerialGC")
