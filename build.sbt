// Four rings, each of which sees only the ones inside it: engine < spark < views < benchmarks.
ThisBuild / organization := "io.github.spark-cer"
ThisBuild / version := Versions("version")
ThisBuild / scalaVersion := Versions("scala")
ThisBuild / scalacOptions ++= Seq(
  Java.bytecode,
  "-deprecation",
  "-feature",
  "-unchecked",
  "-Xlint:_,-byname-implicit",
  "-Wunused",
  "-Wvalue-discard",
  "-Wdead-code",
  "-Werror"
)
ThisBuild / javacOptions ++= Seq("--release", "17")
ThisBuild / testFrameworks := Seq(TestFrameworks.MUnit)

val tested = Seq(
  libraryDependencies ++= Seq(
    "org.scalameta" %% "munit" % Versions("munit") % Test,
    "org.scalameta" %% "munit-scalacheck" % Versions("munitScalacheck") % Test
  ),
  Test / fork := true,
  // Temporary files are deleted after the tests, also those that a suite has left.
  Test / javaOptions += s"-Djava.io.tmpdir=${target.value / "tmp"}",
  Test / testOptions ++= {
    val folder = target.value / "tmp"
    Seq(Tests.Setup(() => IO.createDirectory(folder)), Tests.Cleanup(() => IO.delete(folder)))
  },
  // Suites are over in seconds, for which neither the optimizing compiler of Java nor its concurrent collector pays:
  // StreamSuite takes 69 s of CPU time instead of 144, WindowQuerySuite 66 instead of 121, OracleSuite 40 instead of 54.
  // The room for compiled code is that of the optimizing compiler: when it is full, Java goes on without compiling.
  Test / javaOptions ++= (if (sys.env.contains("CER_LONG")) Nil
                          else Seq("-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=240m", "-XX:+UseSerialGC"))
)

/** What Spark needs opened on Java 17 and later when it is not started by its own scripts. */
val sparkJava = Seq(
  "java.lang",
  "java.lang.invoke",
  "java.lang.reflect",
  "java.io",
  "java.net",
  "java.nio",
  "java.util",
  "java.util.concurrent",
  "java.util.concurrent.atomic"
).map(p => s"--add-opens=java.base/$p=ALL-UNNAMED") ++ Seq(
  "--add-opens=java.base/jdk.internal.ref=ALL-UNNAMED",
  "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
  "--add-opens=java.base/sun.nio.cs=ALL-UNNAMED",
  "--add-opens=java.base/sun.security.action=ALL-UNNAMED",
  "--add-opens=java.base/sun.util.calendar=ALL-UNNAMED",
  "-Djdk.reflect.useDirectMethodHandle=false",
  "-Dio.netty.tryReflectionSetAccessible=true"
)

lazy val dist =
  taskKey[File]("The jar for spark-submit in dist/, under its full name and, for the main Spark, as core.jar.")

/** CEQL, automata, tECS, evaluation. Knows no Spark and has no dependency. */
lazy val engine = (project in file("jvm/engine"))
  .settings(tested)
  .settings(name := "spark-cer-engine")

/** The suites that run on every Spark: a batch, streams with a watermark, timers and a restart, and Delta where there
  * is one. With another Spark than the main one, the other suites are not even compiled.
  */
val everywhere = Set("CerSuite", "WatermarkSuite", "CheckpointSuite", "DeltaSuite")

/** What needs a Spark with Real-Time Mode for stateful streams, beside suites. */
val newest = Set("RealTimeErrors")

/** Compiled with and tested in the jars of a Spark, which the platform has. */
val onSpark = tested ++ Seq(
  Test / unmanagedSources ~= { files =>
    def shared(file: File) =
      !file.base.endsWith("Suite") && !newest(file.base) || file.getParentFile.getName == "testkit"
    files.filter(file => !Versions.isOther || shared(file) || everywhere(file.base))
  },
  target := baseDirectory.value / (if (Versions.isOther) s"target/spark-${Versions.sparkMinor}" else "target"),
  Compile / unmanagedJars := Versions.sparkJars.classpath,
  Test / javaOptions ++= sparkJava ++ Seq("-Xmx3g", "-Dspark.ui.enabled=false"),
  Test / javaOptions += s"-Dlog4j2.configurationFile=${(ThisBuild / baseDirectory).value / "project" / "log4j2.properties"}"
)

/** Binding to DataFrames, streaming state, typed output. */
lazy val spark = (project in file("jvm/spark"))
  .dependsOn(engine % "compile->compile;test->test")
  .settings(onSpark)
  .settings(
    name := "spark-cer-spark",
    // What is in another package since Spark 4.1.
    Seq(Compile -> "main", Test -> "test").map { case (scope, folder) =>
      scope / unmanagedSourceDirectories +=
        baseDirectory.value / "src" / folder / (if (Versions.sparkMinor == "4.0") "spark-4.0" else "spark-4.1")
    }
  )

/** Incrementally maintained views over parts of time. */
lazy val views = (project in file("jvm/views"))
  .dependsOn(spark % "compile->compile;test->test")
  .settings(onSpark)
  .settings(
    name := "spark-cer-views",
    // Not every Spark has a Delta; the tests of it run on those that have one.
    libraryDependencies ++= Versions.delta.toSeq.flatMap { v =>
      Seq("io.delta" %% "delta-spark" % v, "io.delta" % "delta-storage" % v).map(m => (m % Test).intransitive())
    },
    Test / unmanagedSourceDirectories ++= Versions.delta.map(_ => baseDirectory.value / "src" / "test" / "delta").toSeq
  )

lazy val benchmarks = (project in file("jvm/benchmarks"))
  .enablePlugins(JmhPlugin)
  .dependsOn(views, harness)
  .settings(tested, started)
  .settings(name := "spark-cer-benchmarks")

lazy val classpath =
  taskKey[File]("A file with the class path of this project, for programs that start Java themselves.")

val started = Seq(
  classpath := {
    val file = target.value / "classpath"
    IO.write(file, (Runtime / fullClasspath).value.map(_.data.getAbsolutePath).mkString(java.io.File.pathSeparator))
    file
  }
)

/** Other engines, measured beside ours by scripts/peers. None of them is in `root`, so neither the jar nor `sbt test`
  * knows their libraries, and each has a class path of its own.
  */
def peer(id: String): Project = Project(id, file(s"jvm/peers/$id"))
  .dependsOn(harness)
  .settings(started)
  .settings(name := s"spark-cer-peers-$id", publish / skip := true)

/** What takes the time, the same for all engines, ours too. */
lazy val harness = (project in file("jvm/peers/harness"))
  .settings(name := "spark-cer-peers-harness", publish / skip := true)

/** Events from and to Kafka, for what is measured live. */
lazy val live = peer("live").settings(
  libraryDependencies ++= Seq(
    "org.apache.kafka" % "kafka-clients" % Versions("kafkaClients"),
    "org.slf4j" % "slf4j-nop" % Versions("slf4jNop")
  )
)

lazy val flink = peer("flink")
  .dependsOn(live)
  .settings(
    libraryDependencies ++= Seq("streaming-java", "clients", "cep", "table-api-java-bridge", "table-runtime")
      .map(n => "org.apache.flink" % s"flink-$n" % Versions("flink")) :+
      "org.apache.flink" % "flink-table-planner-loader" % Versions("flink")
  )

/** Two of its dependencies are not on Maven Central: a bundle around the disruptor, for which the disruptor itself
  * stands in, and the services of OSGi, which it does not need here.
  */
lazy val siddhi = peer("siddhi").settings(
  libraryDependencies ++= Seq(
    ("io.siddhi" % "siddhi-core" % Versions("siddhi"))
      .excludeAll(ExclusionRule("org.wso2.orbit.com.lmax"), ExclusionRule("org.eclipse.osgi")),
    "com.lmax" % "disruptor" % "3.4.4"
  )
)

/** Under the GPL: nothing but `make bench-peers` builds it. */
lazy val esper = peer("esper").settings(
  libraryDependencies ++= Seq("common", "compiler", "runtime").map(n =>
    "com.espertech" % s"esper-$n" % Versions("esper")
  )
)

/** The product: one jar with all rings but the benchmarks. */
lazy val root = (project in file("."))
  .aggregate(engine, spark, views, benchmarks)
  .dependsOn(views)
  .settings(
    name := "spark-cer",
    publish / skip := true,
    target := baseDirectory.value / (if (Versions.isOther) s"target/spark-${Versions.sparkMinor}" else "target"),
    assembly / aggregate := false,
    assembly / assemblyExcludedJars := Versions.sparkJars.classpath,
    assembly / assemblyJarName := s"spark-cer_${Versions.sparkMinor}_2.13-${version.value}.jar",
    assembly / assemblyOption ~= (_.withIncludeScala(false)),
    dist := {
      val jar = assembly.value
      val folder = baseDirectory.value / "dist"
      // Older jars for this Spark go; core.jar is for the Spark of versions.properties.
      IO.delete((folder * s"spark-cer_${Versions.sparkMinor}_*.jar").get())
      val names = if (Versions.isOther) Seq(jar.getName) else Seq("core.jar", jar.getName)
      names.foreach(name => IO.copyFile(jar, folder / name))
      folder / jar.getName
    }
  )
