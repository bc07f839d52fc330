package sparkcer.engine.testkit

import org.scalacheck.Test
import org.scalacheck.rng.Seed

/** A suite of properties. A failure prints its seed; `CER_SEED` starts from one, and with `CER_LONG=1` there are twenty
  * times as many cases.
  */
abstract class Properties extends munit.ScalaCheckSuite {
  import Properties._

  /** How many cases of each property. */
  def cases: Int = 500

  override def scalaCheckTestParameters: Test.Parameters =
    super.scalaCheckTestParameters.withMinSuccessfulTests(if (Long) 20 * cases else cases).withMaxDiscardRatio(2)

  override val scalaCheckInitialSeed: String = sys.env.getOrElse("CER_SEED", Seed.random().toBase64)
  override val munitTimeout = scala.concurrent.duration.Duration(if (Long) 120 else 10, "min")
}

object Properties {
  val Long: Boolean = sys.env.get("CER_LONG").contains("1")
}
