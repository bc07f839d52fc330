package sparkcer.views.unit

import java.nio.file.{Files, Paths}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.cerbridge.CerRuntimeException

import sparkcer.internal.testkit.Logged
import sparkcer.views.catalog.{CatalogFiles, RemovedFolder}
import sparkcer.views.maintain.{FarAhead, Maintainer}
import sparkcer.views.testkit.{CrashFileSystem, Network, TestFolders}
import sparkcer.views.testkit.Network.{rows, Begin, Broken}

/** All warnings of views: the key, the whole text, and what is logged by code that provokes it. */
final class ViewWarnings(spark: SparkSession) {
  private lazy val folder = TestFolders.make("catalog")

  private def change(files: CatalogFiles): Unit =
    files.commit((c, v) => (c.copy(removed = c.removed :+ RemovedFolder(s"$v", v)), ()))

  private def files(scheme: String): CatalogFiles = {
    val conf = new Configuration()
    CrashFileSystem.register(conf)
    new CatalogFiles(new Path(s"$scheme$folder"), conf)
  }

  /** The version that has a checkpoint is written, and the change of files after it fails. */
  private def withoutCheckpoint(): Unit = {
    val crashing = files("crash:")
    (1 to 99).foreach(_ => change(crashing))
    def isWritten(changes: Int) =
      try { CrashFileSystem.after(changes)(change(crashing)); true }
      catch { case e: CerRuntimeException if e.key == "CER_VIEW_STORAGE.WRITE" => false }
    Iterator.from(1).find(isWritten): Unit
  }

  private def damaged(): Unit = {
    Files.writeString(Paths.get(folder, "_catalog", "100.json"), "{")
    files("").load(): Unit
  }

  def cases: Vector[(String, String, () => Vector[String])] = Vector(
    (
      "CER_VIEW_ASIDE",
      s"[CER_VIEW_ASIDE] 2 rows for the table M were put aside, because their times are after the part of 2100-01-02 00:00:00Z. Is a clock wrong? aside() returns them.",
      () =>
        Logged.during(classOf[FarAhead].getName) {
          // The newest part is after the clock, so that the limit is known.
          val n = 4102444800L / 60 - Begin
          val v = Network.open(spark)
          v.append("M", rows(spark, (n, "s", 1)), ahead = Some("40000 days"))
          v.append("M", rows(spark, (n + 1440, "s", 1), (n + 1441, "s", 1), (n + 1441, "x", 1))): Unit
        }
    ),
    (
      "CER_VIEW_CATALOG_FILES.NO_CHECKPOINT",
      s"[CER_VIEW_CATALOG_FILES] Version 100 of the catalog of views in crash:$folder/_catalog has no checkpoint: crash",
      () => Logged.during(classOf[CatalogFiles].getName)(withoutCheckpoint())
    ),
    (
      "CER_VIEW_CATALOG_FILES.UNREADABLE",
      s"[CER_VIEW_CATALOG_FILES] The file 100.json of the catalog of views in $folder/_catalog is lost or damaged.",
      () => Logged.during(classOf[CatalogFiles].getName)(damaged())
    ),
    (
      "CER_VIEW_FAILED",
      s"[CER_VIEW_FAILED] Part $Begin (2015-01-01 00:00:00Z) of view Broken could not be computed, and is as it was before: [DIVIDE_BY_ZERO]",
      () =>
        Logged.during(classOf[Maintainer].getName) {
          val v = Network.open(spark)
          v.sql(Broken)
          v.append("M", rows(spark, (0, "s", 0)))
          v.maintain(): Unit
        }
    )
  )
}
