package sparkcer.views.maintain

import java.util.{Locale, UUID}

import scala.collection.immutable.VectorMap

import org.apache.spark.sql.cerbridge.CerException
import org.apache.spark.sql.types.StructType

import sparkcer.internal.bind.Durations
import sparkcer.views.catalog.{Catalog, CatalogFiles, Dependencies, Table, ViewStart}
import sparkcer.views.statement.{Statement, StatementParser, StatementText}
import sparkcer.views.translate.{SourceTable, Translate}

/** Creates views. The statements of one text are parsed and checked against their sources, and then all views are added
  * to the catalog in one commit. A view that replaces another one begins where that one began, if its sources are still
  * there.
  */
private[views] final class ViewCreator(files: CatalogFiles, queries: QueryRunner) {

  /** Returns the statements that were executed. A pattern or a window is returned as its translation. */
  def create(all: Vector[StatementText], backfill: Boolean): Vector[String] = {
    val catalog = files.load()
    val texts = all.filterNot(t => t.ifNew && t.name.flatMap(catalog.find).exists(_.isView))
    val replaced = texts.filter(_.replaces).flatMap(replacedBy(catalog, _, texts)).distinct
    val views = new ViewsOfText(catalog.copy(tables = catalog.tables.filterNot(t => replaced.exists(_.id == t.id))))
    val statements = Dependencies.ordered(views.read(texts))
    val tables = statements.map(s =>
      Table(
        s.name,
        UUID.randomUUID().toString,
        s.length,
        views.schema(s.name).json,
        None,
        Some(s.text),
        helper = views.isHelper(s.name)
      )
    )
    files.commit { (now, _) =>
      replaced.foreach(refuseNeeded(now, _, replaced))
      val kept = Sweeper.without(now, now.tables.filter(t => replaced.exists(_.id == t.id)))
      tables.foreach { t =>
        kept.checkNew(t.name)
        t.definition.get.sources.filterNot(s => tables.exists(_.name.equalsIgnoreCase(s))).foreach { s =>
          if (kept(s).id != catalog(s).id) throw new CerException("CER_VIEW_CATALOG.REPLACED", "name" -> s)
        }
      }
      val added = tables.foldLeft(kept) { (c, t) =>
        val all = c.copy(tables = c.tables :+ t)
        val d = t.definition.get
        val start =
          if (backfill) ViewStart.earliest(all, d)
          else began(now, t, replaced).fold(ViewStart.newest(all, d))(ViewStart.since(all, d, _))
        start.fold(all)(s => all.updated(ViewStart.at(all, t, s)))
      }
      (if (tables.isEmpty) now else added, ())
    }
    statements.map(_.text)
  }

  /** The view that a statement replaces, and its helper view, unless others read that one too. */
  private def replacedBy(catalog: Catalog, text: StatementText, texts: Vector[StatementText]): Vector[Table] = {
    val view = text.name.flatMap(catalog.find).filter(_.isView)
    val helper = for {
      v <- view
      h <- catalog.find(helperOf(v.name)) if h.isView && reads(v.definition.get, h)
      // A translation brings a helper view of its own, and a statement with INITIALIZE needs none.
      if !text.isViewDf || h.helper && !isRead(catalog, h, v, texts)
    } yield h
    view.toVector ++ helper
  }

  private def reads(s: Statement, table: Table) = s.sources.exists(_.equalsIgnoreCase(table.name))

  /** Is a helper view read by others than the view that it is for? */
  private def isRead(catalog: Catalog, helper: Table, view: Table, texts: Vector[StatementText]): Boolean =
    (catalog.tables.filterNot(_.id == view.id).flatMap(_.definition) ++
      texts.filter(_.isViewDf).map(StatementParser.parse)).exists(reads(_, helper))

  private def helperOf(view: String) = s"${view}_helper"

  /** When the view that a view replaces began, in seconds. A new helper view begins with the view that it is for. */
  private def began(now: Catalog, view: Table, replaced: Vector[Table]): Option[Long] = {
    def old(name: String) = replaced.find(_.name.equalsIgnoreCase(name)).flatMap(r => now.find(r.name))
    val before = old(view.name).orElse(replaced.find(r => view.helper && helperOf(r.name).equalsIgnoreCase(view.name)))
    before.flatMap(t => t.begin.map(_ * t.length))
  }

  private def refuseNeeded(now: Catalog, view: Table, replaced: Vector[Table]): Unit = {
    val above = Dependencies.above(now, view.name).filterNot(n => replaced.exists(_.name.equalsIgnoreCase(n)))
    if (above.nonEmpty)
      throw new CerException("CER_VIEW_NEEDED.REPLACED", "name" -> view.name, "views" -> above.mkString(", "))
  }

  /** The views of one text. They can read each other, in any order. */
  private final class ViewsOfText(catalog: Catalog) {
    private var statements = VectorMap.empty[String, Statement]
    private var schemas = Map.empty[String, StructType]
    private var helpers = Set.empty[String]

    def isHelper(name: String): Boolean = helpers(name.toLowerCase(Locale.ROOT))

    def read(texts: Vector[StatementText]): Vector[Statement] = {
      val (direct, translated) = texts.partition(_.isViewDf)
      direct.foreach(p => add(StatementParser.parse(p)))
      // Fails if they form a cycle. A translation asks for the columns of its source.
      Dependencies.ordered(statements.values.toVector): Unit
      translated.foreach { p =>
        val made = Translate(p.text, source).flatMap(StatementText.split).map(StatementParser.parse)
        helpers ++= made.init.map(_.name.toLowerCase(Locale.ROOT))
        made.foreach(add)
      }
      val all = statements.values.toVector
      Dependencies.ordered(all)
      all.foreach(check)
      all
    }

    private def add(s: Statement): Unit = {
      catalog.checkNew(s.name)
      if (statements.contains(s.name.toLowerCase(Locale.ROOT)))
        throw new CerException("CER_VIEW_CATALOG.EXISTS", "name" -> s.name)
      NameChecks.check(s.name)
      statements += s.name.toLowerCase(Locale.ROOT) -> s
    }

    private def source(name: String): Option[SourceTable] =
      length(name).map(n => SourceTable(schema(name), n))

    private def length(name: String): Option[Long] =
      catalog.find(name).map(_.length).orElse(statements.get(name.toLowerCase(Locale.ROOT)).map(_.length))

    def schema(name: String): StructType = catalog.find(name).map(_.columns).getOrElse {
      schemas.getOrElse(
        name.toLowerCase(Locale.ROOT), {
          val s = statements(name.toLowerCase(Locale.ROOT))
          references(s)
          val columns = NameChecks.columns(queries.plan(s.initialize, known).schema, s.name, queries.sameName)
          schemas += name.toLowerCase(Locale.ROOT) -> columns
          columns
        }
      )
    }

    private def known(name: String): Option[StructType] = length(name).map(_ => schema(name))

    private def check(s: Statement): Unit = {
      val columns = schema(s.name)
      val update = queries.plan(s.update, known)
      QueryRunner.check(update.schema, columns, s"the ${s.update.clause}")
      if (OwnJoins.multiply(update, s.name))
        throw StatementParser.wrong("JOIN_WITHOUT_ON", s"the ${s.update.clause}", "view" -> s.name)
      // From its own parts alone, one part after the other could be computed without end.
      Vector(s.initialize, s.update).filter(_.references.forall(_.to(s.name))).foreach { q =>
        throw StatementParser.wrong("NO_PARTS", s"the ${q.clause}", "variable" -> q.variable)
      }
    }

    private def references(s: Statement): Unit = {
      Vector(s.initialize, s.update).foreach { q =>
        q.references.foreach { r =>
          def fail(error: String, parameters: (String, String)*): Nothing = {
            val where = s"the ${q.clause}, ${r.place}"
            throw StatementParser.wrong(error, where, ("reference" -> r.text) +: parameters: _*)
          }
          val length = this.length(r.table).getOrElse {
            val names = (catalog.tables.map(_.name) ++ statements.values.map(_.name)).sorted
            fail("UNKNOWN_SOURCE", "source" -> r.table, "names" -> names.mkString(", "))
          }
          if (!r.low.keepsPace(s.length, length) || !r.high.keepsPace(s.length, length)) {
            val lengths = Seq(
              "view" -> s.name,
              "length" -> Durations.words(s.length),
              "source" -> r.table,
              "sourceLength" -> Durations.words(length)
            )
            fitting(r.table, q.variable, s.length, length) match {
              case Some(expected) => fail("LENGTHS", lengths :+ "expected" -> expected: _*)
              case None           => fail("LENGTHS_NOT_MULTIPLE", lengths: _*)
            }
          }
          if (!r.low.atMost(r.high)) fail("EMPTY_RANGE")
          if (r.to(s.name) && (q eq s.initialize)) fail("FIRST_PART")
          if (r.to(s.name) && r.high.at(0) >= 0) fail("OWN_PART")
        }
      }
    }

    /** A reference that fits these lengths, if one is a multiple of the other. */
    private def fitting(table: String, j: String, view: Long, source: Long): Option[String] =
      if (view % source == 0) {
        val n = view / source
        Some(if (n == 1) s"$table[$j]" else s"$table[$j*$n..$j*$n+${n - 1}]")
      } else if (source % view == 0) Some(s"$table[$j/${source / view}]")
      else None
  }
}
