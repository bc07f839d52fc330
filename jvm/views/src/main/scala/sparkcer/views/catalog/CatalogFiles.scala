package sparkcer.views.catalog

import java.io.IOException
import java.util.UUID

import scala.annotation.tailrec
import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import org.apache.spark.internal.Logging
import org.apache.spark.sql.cerbridge.CerRuntimeException

import sparkcer.engine.error.Errors

/** The catalog in files, see [[AtomicFiles]]. A commit writes `_catalog/<version>.json`, with what it changes in the
  * version before: its cost does not grow with the number of parts. Every hundredth version is written a second time as
  * a whole, in `checkpoint-<version>.json`, so that a reader need not start with the first version. A writer that finds
  * that the file of its version exists already loads this version and applies its change again.
  *
  * If a file is lost or damaged, the newest version that can be read without it is loaded, with a warning. Nothing can
  * be committed then, because all later versions would be lost without a word, until [[reset]] is called. A checkpoint
  * that is lost or damaged loses nothing, and neither does a version that has a checkpoint. That the newest version is
  * lost shows only in its checkpoint, or to those who know it.
  *
  * A version with the whole catalog instead of a change is read too. Earlier releases wrote only such versions, and
  * [[reset]] writes one.
  */
private[views] final class CatalogFiles(root: Path, conf: Configuration) extends Logging {
  import CatalogFiles._

  private val folder = new Path(root, "_catalog")
  private val files = new AtomicFiles(folder, conf)
  private val writer = UUID.randomUUID().toString

  @volatile private var last = LoadedCatalog(Catalog.Empty, 0, Vector.empty)

  /** The newest version that can be read. */
  def load(): Catalog = loaded().catalog

  /** The newest version that can be read, and the files that could not be read. */
  def loaded(): LoadedCatalog = inWords("READ") {
    val known = last
    val read = forward(known).getOrElse(fresh())
    // Versions only grow.
    val lost = (read.top + 1 to known.top).map(file)
    val found = if (lost.isEmpty) read else read.copy(top = known.top, bad = read.bad ++ lost)
    if (found.bad != last.bad)
      found.bad.foreach(b => warn("UNREADABLE", "file" -> b))
    last = found
    found
  }

  /** The versions since a known one, which others have written. None if this cannot be told from the files alone:
    * nothing is known yet, a file is bad, or others have written so many versions that the known one was deleted. Old
    * versions are deleted first, so if the known one is there, the next one was not deleted.
    */
  private def forward(known: LoadedCatalog): Option[LoadedCatalog] =
    if (known.catalog.version == 0 || known.bad.nonEmpty) None
    else {
      var now = Option(known.catalog)
      var going = true
      while (going)
        now.map(c => c -> files.read(file(c.version + 1))) match {
          case Some((c, Some(bytes))) => now = applied(bytes, c)
          case _                      => going = false
        }
      now
        .filter(_ => files.exists(file(known.catalog.version)))
        .map(c => LoadedCatalog(c, c.version, Vector.empty))
    }

  private def applied(bytes: Array[Byte], before: Catalog): Option[Catalog] =
    content(bytes, before.version + 1).flatMap {
      case Left(whole)   => Some(whole)
      case Right(change) => readable(change.of(before))
    }

  /** From the files alone. The search is repeated if a file was deleted by others meanwhile. */
  private def fresh(): LoadedCatalog =
    Iterator.continually(search()).zipWithIndex.find { case (found, n) => !found.misses || n >= 3 }.get._1.catalog

  /** Goes back from the newest version to one that is known as a whole, and applies the changes since. */
  private def search(): Search = {
    val names = files.list().map(_.getPath.getName)
    val commits = names.collect { case Name(v) => v.toLong }.toSet
    val checkpoints = names.collect { case CheckpointName(v) => v.toLong }.toSet
    if (commits.isEmpty && checkpoints.isEmpty) Search(LoadedCatalog(Catalog.Empty, 0, Vector.empty), misses = false)
    else {
      val (lowest, top) = ((commits ++ checkpoints).min, (commits ++ checkpoints).max)
      var bad = Vector.empty[String]
      var misses = false
      var changes = List.empty[CatalogChange]
      var found = Option.empty[Catalog]
      var at = top
      def read(name: String) = files.read(name).flatMap { bytes =>
        val known = content(bytes, at)
        if (known.isEmpty) bad :+= name
        known
      }
      while (found.isEmpty && at >= lowest) {
        val whole = if (checkpoints(at)) read(checkpoint(at)).flatMap(_.left.toOption) else None
        // Others may know the version before it only.
        if (whole.isDefined && at == top && !commits(at)) bad :+= file(at)
        (whole.map(Left(_)): Option[Either[Catalog, CatalogChange]]).orElse(read(file(at))) match {
          case Some(Left(c))       => found = Some(c)
          case Some(Right(change)) => changes ::= change
          case None                =>
            // No later version can be read, because each needs the one before.
            if (!bad.contains(file(at))) {
              misses = true
              bad :+= file(at)
            }
            changes = Nil
        }
        at -= 1
      }
      val start = found.orElse(if (changes.headOption.exists(_.version == 1)) Some(Catalog.Empty) else None)
      start.map(upTo(_, changes)) match {
        case Some((c, unfit))       => Search(LoadedCatalog(c, top, bad ++ unfit.map(file)), misses)
        case None if bad.length > 0 => throw wrong("NO_CATALOG", "files" -> bad.mkString(", "))
        case None                   => throw wrong("NO_CATALOG", "files" -> file(lowest - 1))
      }
    }
  }

  /** Applies changes one after the other, up to the first that does not fit: its number comes second. */
  @tailrec
  private def upTo(c: Catalog, changes: List[CatalogChange]): (Catalog, Option[Long]) = changes match {
    case Nil            => (c, None)
    case change :: rest =>
      readable(change.of(c)) match {
        case Some(next) => upTo(next, rest)
        case None       => (c, Some(change.version))
      }
  }

  /** A whole catalog, or a change, if it is of that version. None if the file is damaged. */
  private def content(bytes: Array[Byte], version: Long): Option[Either[Catalog, CatalogChange]] = readable {
    val node = CatalogJson.parse(bytes)
    if (CatalogJson.isWhole(node)) Left(CatalogJson.whole(node)) else Right(CatalogJson.change(node))
  }.filter(_.fold(_.version, _.version) == version)

  private def readable[A](body: => A): Option[A] =
    try Some(body)
    catch { case NonFatal(_) => None }

  /** Applies a change to the newest version, and writes the result as the next version. If another writer was faster,
    * the change is applied again. The change gets the catalog and the number of the next version; to change nothing, it
    * returns the same catalog.
    */
  @tailrec
  def commit[A](change: (Catalog, Long) => (Catalog, A)): A = {
    val before = sound()
    val version = before.version + 1
    val (after, result) = change(before, version)
    if (after eq before) result
    else if (write(before, after.copy(version = version).writtenBy(writer))) result
    else commit(change)
  }

  /** The newest version. Fails if later versions cannot be read. If its own file is lost, it is written again as a
    * whole: who knows only the version before it would write another one.
    */
  def sound(): Catalog = {
    val now = loaded()
    val newest = file(now.catalog.version)
    if (!now.isBroken && now.bad.contains(newest))
      inWords("WRITE")(files.put(newest, CatalogJson.bytes(CatalogJson.whole(now.catalog)))): Unit
    if (now.isBroken)
      throw wrong(
        "BROKEN_CATALOG",
        "files" -> now.bad.mkString(", "),
        "version" -> now.catalog.version.toString,
        "newest" -> now.top.toString
      )
    now.catalog
  }

  /** Makes the newest version that can be read the newest version, if later ones cannot be read. Returns the range of
    * versions that are lost.
    */
  def reset(): Option[(Long, Long)] = {
    val now = loaded()
    if (!now.isBroken) None
    else {
      val next = now.catalog.copy(version = now.top + 1).writtenBy(writer)
      if (inWords("WRITE")(files.put(file(next.version), CatalogJson.bytes(CatalogJson.whole(next)))))
        Some((now.catalog.version + 1, now.top))
      else reset()
    }
  }

  /** Deletes temporary files that are older than a time, of writers that failed. */
  def sweep(before: Long): Unit = files.sweep(before)

  /** A writer that was suspended can find that the file of its version does not exist only because others are far ahead
    * and have deleted it. Then they have deleted the version before it, too. So if that is not there after the file is
    * written, and there are newer versions, these must be based on it: the newest one knows then that we have written
    * it. If it does not, our version is void, and is deleted.
    *
    * Only one thread of a writer writes at a time, so that the catalog can tell which version it wrote last.
    */
  private def write(before: Catalog, after: Catalog): Boolean = synchronized {
    inWords("WRITE") {
      val version = after.version
      val change = CatalogJson.change(CatalogChange.between(before, after, writer))
      if (!files.put(file(version), CatalogJson.bytes(change))) false
      else {
        val isValid = files.exists(file(version - 1)) || newest() == version ||
          fresh().catalog.writers.get(writer).contains(version)
        if (isValid) {
          last = LoadedCatalog(after, version, Vector.empty)
          if (version % CheckpointEvery == 0) check(after)
        } else files.delete(file(version))
        isValid
      }
    }
  }

  /** Writes a checkpoint, and deletes what is older than the checkpoint before it. If that fails, nothing is lost. */
  private def check(catalog: Catalog): Unit =
    try {
      files.put(checkpoint(catalog.version), CatalogJson.bytes(CatalogJson.whole(catalog))): Unit
      val names = files.list().map(_.getPath.getName)
      val checkpoints = names.collect { case CheckpointName(v) => v.toLong }.sorted
      checkpoints.dropRight(1).lastOption.foreach { oldest =>
        checkpoints.filter(_ < oldest).foreach(v => files.delete(checkpoint(v)))
        names.collect { case Name(v) => v.toLong }.filter(_ < oldest).sorted.foreach(v => files.delete(file(v)))
      }
    } catch {
      case e: IOException =>
        warn(
          "NO_CHECKPOINT",
          "version" -> catalog.version.toString,
          "reason" -> Option(e.getMessage).getOrElse(e.toString)
        )
    }

  private def newest(): Long =
    files.list().map(_.getPath.getName).collect { case Name(v) => v.toLong }.maxOption.getOrElse(0L)

  private def inWords[A](error: String)(body: => A): A =
    try body
    catch {
      case e: IOException =>
        val failed = wrong(error, "reason" -> Option(e.getMessage).getOrElse(e.toString))
        failed.addSuppressed(e)
        throw failed
    }

  private def warn(warning: String, parameters: (String, String)*): Unit =
    logWarning(Errors.print(s"CER_VIEW_CATALOG_FILES.$warning", ("folder" -> folder.toString) +: parameters: _*))

  private def wrong(error: String, parameters: (String, String)*) =
    new CerRuntimeException(s"CER_VIEW_STORAGE.$error", ("folder" -> folder.toString) +: parameters: _*)
}

/** A catalog as it was read from its files.
  *
  * @param top
  *   the newest version for which there is a file
  * @param bad
  *   the files that could not be read
  */
private[views] final case class LoadedCatalog(catalog: Catalog, top: Long, bad: Vector[String]) {

  /** Are there newer versions, which cannot be read? */
  def isBroken: Boolean = catalog.version < top
}

private object CatalogFiles {

  /** @param misses whether a file was missing */
  private final case class Search(catalog: LoadedCatalog, misses: Boolean)

  private def file(version: Long) = s"$version.json"
  private def checkpoint(version: Long) = s"checkpoint-$version.json"
  private val Name = """^(\d+)\.json$""".r
  private val CheckpointName = """^checkpoint-(\d+)\.json$""".r

  /** The cost of a checkpoint grows with the catalog, and is shared by so many versions. */
  private val CheckpointEvery = 100
}
