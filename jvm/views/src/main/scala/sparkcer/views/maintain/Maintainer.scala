package sparkcer.views.maintain

import java.util.concurrent.{Callable, ExecutionException, ExecutorCompletionService, Executors}

import scala.util.control.NonFatal

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.cerbridge.{CerException, CerRuntimeException}

import sparkcer.views.catalog._
import sparkcer.views.store.Storage

/** Brings all views up to date. A part is computed when all parts that it needs exist and none of them is still to be
  * recomputed. A stale part is recomputed under the same condition. Each part is committed by itself: a run that is
  * interrupted leaves a consistent catalog, and the next run continues from there.
  */
private[views] final class Maintainer(
    spark: SparkSession,
    files: CatalogFiles,
    storage: Storage,
    queries: QueryRunner
) {

  /** Runs until nothing is left to do. If a part fails, all parts that do not need it are computed, and then the error
    * is thrown.
    */
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
    var failed = Map.empty[PartName, Throwable]
    // Submits only as many parts as there are threads, so that each part is computed from the newest catalog.
    def begin(): Unit = {
      val catalog = files.load()
      ready(catalog).filterNot(n => running(n) || failed.contains(n)).take(Threads - running.size).foreach { name =>
        running += name
        completion.submit((() => (name, attempt(catalog, name))): Callable[(PartName, Option[MaintainedPart])]): Unit
      }
    }
    try {
      begin()
      while (running.nonEmpty) {
        try {
          val (name, done) = completion.take().get()
          running -= name
          report ++= done
        } catch {
          case e: ExecutionException =>
            e.getCause match {
              case f: PartFailed =>
                running -= f.name
                failed += f.name -> f.getCause
              case other => throw other
            }
        }
        begin()
      }
    } finally pool.shutdownNow(): Unit
    failed.values.headOption.foreach(throw _)
    report
  }

  /** The parts that can be computed or recomputed now. */
  private def ready(catalog: Catalog): Vector[PartName] = {
    val dirty = Dependencies.dirty(catalog)
    for {
      view <- catalog.tables.filter(_.isView)
      index <- view.parts.filter(_.stale.nonEmpty).map(_.index) ++ view.next
      inputs = Dependencies.inputs(view, index)
      isNew = view.part(index).isEmpty
      if !isNew || inputs.forall { case (t, range) => MissingParts(catalog(t), range).isEmpty }
      if !inputs.exists { case (t, range) =>
        val source = catalog(t)
        dirty.nonEmpty && source.between(range).exists(p => dirty(PartName(source.name, p.index)))
      }
    } yield PartName(view.name, index)
  }

  private def attempt(catalog: Catalog, name: PartName): Option[MaintainedPart] =
    try make(catalog, catalog(name.table), name.index)
    catch { case NonFatal(e) => throw new PartFailed(name, told(e, name, catalog(name.table).length)) }

  private def told(e: Throwable, name: PartName, length: Long): Throwable = e match {
    case known: CerException        => known
    case known: CerRuntimeException => known
    case other                      =>
      val reason = Option(other.getMessage).getOrElse(other.toString).linesIterator.nextOption().getOrElse("")
      val failed = new CerRuntimeException(
        "CER_VIEW_FAILED",
        "part" -> name.index.toString,
        "time" -> PartTime.words(name.index, length),
        "view" -> name.table,
        "reason" -> reason
      )
      failed.addSuppressed(other)
      failed
  }

  private def make(catalog: Catalog, view: Table, index: Long): Option[MaintainedPart] = {
    val began = System.nanoTime()
    val inputs = Dependencies.inputs(view, index)
    val old = view.part(index)
    def done(action: String, rows: Long, read: Long) = {
      val because = old match {
        case Some(p) => p.stale.map(n => s"$n changed").mkString(", ")
        case None    => inputs.map { case (t, r) => r.of(catalog(t).name) }.mkString(", ") + " arrived"
      }
      MaintainedPart(view.name, index, view.length, action, because, rows, read, (System.nanoTime() - began) / 1000000)
    }
    if (inputs.exists { case (t, range) => MissingParts(catalog(t), range).nonEmpty })
      commit(catalog, view, index, _ => old.get.copy(stale = Vector.empty, frozen = true), Vector.empty)
        .map(_ => done("frozen", old.get.rows, 0))
    else {
      SparkSession.setActiveSession(spark)
      spark.sparkContext.setJobDescription(s"${view.name}[$index]")
      val (folder, rows) = storage.write(view.name, queries.part(catalog, view, index))
      val read = inputs.map { case (t, range) => catalog(t).between(range).map(_.rows).sum }.sum
      val made = if (rows == 0) Vector.empty else Vector(folder)
      val fresh = old.filter(_.rows == rows).filter { p =>
        rows == 0 || SameRows(
          queries.rows(view, Seq(p)),
          queries.rows(view.copy(folders = made), Seq(p.copy(folders = made.map(_.path))))
        )
      }
      val committed = fresh match {
        case Some(p) => commit(catalog, view, index, _ => p.copy(stale = Vector.empty, frozen = false), Vector.empty)
        case None    =>
          commit(
            catalog,
            view,
            index,
            version => Part(index, made.map(_.path), rows, version, System.currentTimeMillis()),
            made
          )
      }
      if (committed.isEmpty || fresh.isDefined || rows == 0) storage.delete(folder.path)
      val action =
        if (fresh.isDefined) "unchanged"
        else if (old.isDefined) "recomputed"
        else if (view.query(index) eq view.definition.get.initialize) "initialized"
        else "updated"
      committed.map(_ => done(action, rows, read))
    }
  }

  /** Adds a part to the catalog. None if another run has changed this part since: then the new folder is not needed. If
    * a source part has changed since it was read, the new part is stale at once.
    */
  private def commit(
      read: Catalog,
      view: Table,
      index: Long,
      part: Long => Part,
      folders: Vector[DataFolder]
  ): Option[Unit] =
    files.commit { (now, version) =>
      now.find(view.name).filter(t => t.id == view.id && unmoved(t, view, index)) match {
        case None        => (now, None)
        case Some(table) =>
          val made = part(version)
          val changed = for {
            (name, range) <- Dependencies.inputs(table, index)
            source <- now.find(name).toVector
            p <- source.between(range) if p.changed > read.version
          } yield PartName(source.name, p.index)
          val placed = table.copy(folders = table.folders ++ folders).updated(made.copy(stale = changed.distinct))
          val swept = Sweeper.drop(now, placed, System.currentTimeMillis())
          val isChanged = table.part(index).exists(_.changed != made.changed)
          val marked = if (isChanged) Dependencies.mark(swept, Seq(PartName(table.name, index))) else swept
          (Dependencies.settle(marked), Some(()))
      }
    }

  private def unmoved(now: Table, before: Table, index: Long): Boolean = (now.part(index), before.part(index)) match {
    case (Some(a), Some(b)) => a.changed == b.changed && a.folders == b.folders && a.stale.nonEmpty
    case (None, None)       => now.next.contains(index) && now.updates == before.updates
    case _                  => false
  }

  private val Threads = 4
}

private final class PartFailed(val name: PartName, cause: Throwable) extends Exception(cause)
