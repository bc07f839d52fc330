import java.io.{File, FileInputStream}
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

  /** `-Dspark=4.1.4` builds for another Spark. */
  def apply(name: String): String = sys.props
    .get(name)
    .filter(_ => name == "spark")
    .orElse(Option(properties.getProperty(name)))
    .getOrElse(sys.error(s"versions.properties has no $name"))

  /** Is this a build for another Spark than the one of versions.properties? */
  val isOther: Boolean = apply("spark") != properties.getProperty("spark")

  /** The jars of this Spark, as its PySpark carries them: every Spark that people install is on PyPI, and not every one
    * is on Maven. Scala's library is sbt's own.
    */
  def sparkJars: Seq[File] = {
    val folder = new File(s".tools/spark-${apply("spark")}/pyspark/jars").getAbsoluteFile
    if (!folder.isDirectory) sys.error(s"There is no PySpark ${apply("spark")}: run scripts/setup.py ${apply("spark")}")
    folder.listFiles.toSeq.filter(_.getName.endsWith(".jar")).filterNot(_.getName.startsWith("scala-library-")).sorted
  }

  /** The Delta that runs on this Spark, if there is one. */
  val delta: Option[String] = Option(properties.getProperty(s"delta-${apply("spark")}"))

  /** `4.3` of `4.3.0`. */
  val sparkMinor: String = apply("spark").split('.').take(2).mkString(".")
}
