import java.io.FileInputStream
import java.util.Properties

/** The versions of `versions.properties`, by name. */
object Versions {
  private val properties = {
    val p = new Properties
    val in = new FileInputStream("versions.properties")
    try p.load(in)
    finally in.close()
    p
  }

  /** `-Dspark=4.1.3` builds for another Spark. */
  def apply(name: String): String = sys.props
    .get(name)
    .filter(_ => name == "spark")
    .orElse(Option(properties.getProperty(name)))
    .getOrElse(sys.error(s"versions.properties has no $name"))

  /** Is this a build for another Spark than the one of versions.properties? */
  val isOther: Boolean = apply("spark") != properties.getProperty("spark")

  /** spark-connect is compiled against in the Spark's own version, unless versions.properties names another one. */
  val sparkConnect: String = Option(properties.getProperty(s"connect-${apply("spark")}")).getOrElse(apply("spark"))

  /** The Delta that runs on this Spark, if there is one. */
  val delta: Option[String] = Option(properties.getProperty(s"delta-${apply("spark")}"))

  /** `4.2` of `4.2.0`. */
  val sparkMinor: String = apply("spark").split('.').take(2).mkString(".")
}
