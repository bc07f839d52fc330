package sparkcer.views.maintain

import java.util.concurrent.{Callable, ExecutionException, ExecutorCompletionService, Executors}

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.cerbridge.{CerRuntimeException, Plans}

import sparkcer.engine.error.Errors
import sparkcer.views.catalog._
import sparkcer.views.statement.PartRange
import sparkcer.views.store.{FileErrors, Storage}

/** Brings all views up to date. A part is computed when all parts that it needs exist and none of them is still to be
  * recomputed. A stale part is recomputed under the same condition. Each part is committed by itself: a run that is
  * interrupted leaves a consistent catalog, and the next run continues from there.
  *
  * A part that fails is noted in the catalog with its error, and is as it was before. Later parts of its view wait for
  * it, because a view has no gaps; all other parts that do not need it are computed. The next run tries again. The run
  * itself fails only if the catalog cannot be read or written, or if it is cancelled.
  *
  * @param shares
  *   whether several parts can name the same folder, see [[SteadyStretch]]
  */
private[views] final class Maintainer(
    spark: SparkSession,
    files: CatalogFiles,
    storage: Storage,
    queries: QueryRunner,
    shares: Boolean
) extends Logging {

  /** Runs until nothing is left to do. */
  def run(): Vector[MaintainedPart] = {
    val pool = Executors.newFixedThreadPool(
      Threads,
      (r: Runnable) => {
        val t = new Thread(r, "spark-cer-views")
        t.setDaemon(true)
        t
      }
    )
    val completion = new ExecutorCompletionService[(PartName, Option[MaintainedPart])](pool)
    var running = Set.empty[PartName]
    var report = Vector.empty[MaintainedPart]
    var failed = Set.empty[PartName]
    // Submits only as many parts as there are threads, so that each part is computed from the newest catalog.
    def begin(): Unit = {
      val catalog = files.sound()
      ready(catalog).filterNot(n => running(n) || failed(n)).take(Threads - running.size).foreach { name =>
        running += name
        completion.submit((() => (name, attempt(catalog, name))): Callable[(PartName, Option[MaintainedPart])]): Unit
      }
    }
    try {
      begin()
      while (running.nonEmpty) {
        val (name, done) =
          try completion.take().get()
          catch { case e: ExecutionException => throw e.getCause }
        running -= name
        if (done.exists(_.error.isDefined)) failed += name
        report ++= done
        begin()
      }
    } finally pool.shutdownNow(): Unit
    report
  }

  /** The parts that can be computed or recomputed now. */
  private def ready(catalog: Catalog): Vector[PartName] = {
    val dirty = Dependencies.dirty(catalog)
    for {
      view <- catalog.tables.filter(_.isView)
      index <- view.parts.filter(_.isStale).map(_.index) ++ view.next
      inputs = Dependencies.inputs(view, index)
      isNew = view.part(index).isEmpty
      if !isNew || inputs.forall { case (t, range) => MissingParts(catalog(t), range).isEmpty }
      if !inputs.exists { case (t, range) =>
        val source = catalog(t)
        dirty.nonEmpty && source.between(range).exists(p => dirty(PartName(source.name, p.index)))
      }
    } yield PartName(view.name, index)
  }

  private def attempt(catalog: Catalog, name: PartName): Option[MaintainedPart] = {
    val began = System.nanoTime()
    try make(catalog, catalog(name.table), name.index, began)
    catch {
      case e: CerRuntimeException if e.key.startsWith("CER_VIEW_STORAGE") && e.key != Files => throw e
      case NonFatal(e) if FileErrors.isCancelled(e)                                         => throw e
      case NonFatal(e)                                                                      =>
        val view = catalog(name.table)
        val reason = Option(e.getMessage).getOrElse(e.toString).linesIterator.nextOption().getOrElse("")
        note(view, name.index, reason)
        logWarning(
          Errors.print(
            "CER_VIEW_FAILED",
            "part" -> name.index.toString,
            "time" -> PartTime.words(name.index, view.length),
            "view" -> view.name,
            "reason" -> reason
          ),
          e
        )
        val because = why(catalog, view, name.index, name.index)
        val rows = view.part(name.index).fold(0L)(_.rows)
        Some(row(view, name.index, "failed", because, rows, 0, began).copy(error = Some(reason)))
    }
  }

  /** Notes that a part failed, unless that is known already. Errors that differ only in numbers, such as those of a
    * task or a file, are the same: a stream would commit each of them.
    */
  private def note(view: Table, index: Long, error: String): Unit = files.commit { (now, _) =>
    now.find(view.name).filter(_.id == view.id) match {
      case None    => (now, ())
      case Some(t) =>
        val known = t.failed.find(_.index == index)
        if (known.exists(k => plain(k.error) == plain(error))) (now, ())
        else {
          val since = known.fold(System.currentTimeMillis())(_.since)
          val others = t.failed.filterNot(_.index == index)
          (now.updated(t.copy(failed = others :+ FailedPart(index, error, since))), ())
        }
    }
  }

  private def plain(error: String) = error.replaceAll("[0-9a-f-]*[0-9][0-9a-f-]*", "#")

  private def row(view: Table, index: Long, action: String, because: String, rows: Long, read: Long, began: Long) =
    MaintainedPart(view.name, index, view.length, action, because, rows, read, (System.nanoTime() - began) / 1000000)

  /** Why the parts from one to another are computed. */
  private def why(catalog: Catalog, view: Table, first: Long, last: Long): String = view.part(first) match {
    case Some(p) => p.because.mkString(", ")
    case None    =>
      val ranges = Dependencies.inputs(view, first).zip(Dependencies.inputs(view, last)).map { case ((t, a), (_, b)) =>
        PartRange(a.first, b.last).of(catalog(t).name)
      }
      ranges.mkString(", ") + " arrived"
  }

  private def make(catalog: Catalog, view: Table, index: Long, began: Long): Option[MaintainedPart] = {
    val old = view.part(index)
    val without = LostRows.under(catalog, view, index)
    // What was computed from more than is there now stays as it is.
    val isLacking = Dependencies.inputs(view, index).exists { case (t, range) =>
      MissingParts(catalog(t), range).nonEmpty
    } || old.exists(p => without.diff(p.without).nonEmpty)
    if (isLacking)
      commit(catalog, view, index, _ => fresh(old.get).copy(frozen = true), Vector.empty, isSteady = false)
        .map(_ => row(view, index, "frozen", why(catalog, view, index, index), old.get.rows, 0, began))
    else {
      SparkSession.setActiveSession(spark)
      spark.sparkContext.setJobDescription(s"${view.name}[$index]")
      val query = queries.part(catalog, view, index)
      val written = FileErrors.inWords(s"${view.name} and its sources")(storage.write(view.name, query))
      import written.rows
      def hasSame(p: Part) = p.rows == rows && {
        val other = view.copy(folders = Vector(written.folder))
        rows == 0 || SameRows(
          queries.rows(view, Seq(p)),
          queries.rows(other, Seq(p.copy(folders = Vector(written.folder.path))))
        )
      }
      val same = old.filter(hasSame)
      val isSteady = old.isEmpty && (rows == 0 || shares) &&
        SteadyStretch.isSteady(view, index, Plans.planOf(query).deterministic)
      val rest =
        view.part(index - 1).filter(p => isSteady && SteadyStretch.rests(catalog, view, index, p) && hasSame(p))
      val isNew = rows > 0 && same.isEmpty && rest.isEmpty
      val made = if (isNew) Vector(written.folder) else Vector.empty
      val committed = same match {
        case Some(p) =>
          val again = fresh(p).copy(frozen = false, lost = 0, without = without)
          commit(catalog, view, index, _ => again, Vector.empty, isSteady = false)
        case None =>
          val paths = rest.fold(made.map(_.path))(_.folders)
          commit(
            catalog,
            view,
            index,
            version => Part(index, paths, rows, version, System.currentTimeMillis(), without = without),
            made,
            isSteady
          )
      }
      if (committed.isEmpty || !isNew) storage.delete(written.folder.path)
      val action =
        if (same.isDefined) "unchanged"
        else if (old.isDefined) "recomputed"
        else if (view.query(index) eq view.definition.get.initialize) "initialized"
        else "updated"
      committed.map { last =>
        row(view, index, action, why(catalog, view, index, last), rows, written.read, began)
          .copy(parts = last - index + 1)
      }
    }
  }

  private def fresh(part: Part): Part = part.copy(stale = Vector.empty, reasons = Vector.empty)

  /** Adds a part to the catalog, and returns its number. None if another run has changed this part since: then the new
    * folder is not needed. If a source part has changed since it was read, or the change of a table outside was told,
    * the new part is stale at once.
    *
    * @param isSteady
    *   whether the parts after it that have the same rows are added too, see [[SteadyStretch]]. The number is then that
    *   of the last.
    */
  private def commit(
      read: Catalog,
      view: Table,
      index: Long,
      part: Long => Part,
      folders: Vector[DataFolder],
      isSteady: Boolean
  ): Option[Long] =
    files.commit { (now, version) =>
      now.find(view.name).filter(t => t.id == view.id && unmoved(t, view, index)) match {
        case Some(table) if isNamed(table, part(version), folders) =>
          val made = part(version)
          val changed = for {
            (name, range) <- Dependencies.inputs(table, index)
            source <- now.find(name).toVector
            p <- source.between(range) if p.changed > read.version
          } yield PartName(source.name, p.index)
          val told = OutsideTables.since(read.version, table)
          val isRest = isSteady && changed.isEmpty && told.isEmpty
          val last = if (isRest) SteadyStretch.last(now, table, index, SteadyStretch.rows(made)) else index
          val placed = table
            .copy(folders = table.folders ++ folders, failed = table.failed.filterNot(_.index == index))
            .updated(made.copy(stale = changed.distinct, reasons = told))
          val all =
            placed.copy(parts = placed.parts ++ PartRange(index + 1, last).indexes.map(n => made.copy(index = n)))
          // A new part replaces no folder. To look for those that are not used any more would take longer with each part.
          val isNew = table.part(index).isEmpty
          val swept = if (isNew) now.updated(all) else Sweeper.drop(now, all, System.currentTimeMillis())
          val isChanged = table.part(index).exists(_.changed != made.changed)
          val marked = if (isChanged) Dependencies.mark(swept, Seq(PartName(table.name, index))) else swept
          (Dependencies.settle(marked), Some(last))
        case _ => (now, None)
      }
    }

  /** Are all folders of a part in the catalog, or just written? A run that recomputes the part before can have replaced
    * a folder that both were to name.
    */
  private def isNamed(table: Table, part: Part, written: Vector[DataFolder]): Boolean = {
    val others = part.folders.filterNot(f => written.exists(_.path == f))
    others.isEmpty || others.forall(table.folder.contains)
  }

  private def unmoved(now: Table, before: Table, index: Long): Boolean = (now.part(index), before.part(index)) match {
    case (Some(a), Some(b)) => a.changed == b.changed && a.folders == b.folders && a.isStale
    case (None, None)       => now.next.contains(index) && now.updates == before.updates
    case _                  => false
  }

  private val Threads = 4
  private val Files = "CER_VIEW_STORAGE.FILES"
}
