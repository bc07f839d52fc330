package sparkcer.spark

import org.apache.spark.sql.DataFrame

import sparkcer._

/** What goes on from a checkpoint. */
class CheckpointSuite extends SparkSuite {
  private val session = spark
  import session.implicits._

  private def identities(df: DataFrame): Seq[String] = df.select("match_id").as[String].collect().sorted.toSeq

  for (sample <- Checkpoints.samples)
    test(s"one of format 1 goes on where it was stopped: ${sample.name}") {
      val (checkpoint, before) = Checkpoints.unpack(1, sample)
      val after = new Checkpoints.Run(spark, sample, checkpoint).resume()
      assertEquals((before ++ after).sorted, identities(Checkpoints.events(spark).cer(sample.query, time = "ts")))
      assert(before.nonEmpty && after.nonEmpty)
    }

  test("one of format 1 serves a snapshot") {
    val sample = Checkpoints.samples.find(_.snapshots).get
    val (checkpoint, _) = Checkpoints.unpack(1, sample)
    val stream = new Checkpoints.Run(spark, sample, checkpoint).events
    val found = identities(stream.cerSnapshot(sample.query, checkpoint = checkpoint.toString))
    assertEquals(found, identities(Checkpoints.read(spark).cerSnapshot(sample.query, time = "ts")))
    assert(found.nonEmpty)
  }
}
