package sparkcer.views.maintain

import java.util.UUID

import scala.collection.immutable.VectorMap

import org.apache.spark.sql.types.StructType

import sparkcer.internal.bind.Durations
import sparkcer.views.ViewsException
import sparkcer.views.catalog.{Catalog, CatalogFiles, Dependencies, Table, ViewStart}
import sparkcer.views.statement.{Statement, StatementParser, StatementText}
import sparkcer.views.translate.{SourceTable, Translate}

/** Creates views. The statements of one text are parsed and checked against their sources, and then all views are added
  * to the catalog in one commit.
  */
private[views] final class ViewCreator(files: CatalogFiles, queries: QueryRunner) {

  /** Returns the statements that were executed. A pattern or a window is returned as its translation. */
  def create(texts: Vector[StatementText], backfill: Boolean): Vector[String] = {
    val catalog = files.load()
    val views = new ViewsOfText(catalog)
    val statements = Dependencies.ordered(views.read(texts))
    val tables = statements.map(s =>
      Table(s.name, UUID.randomUUID().toString, s.length, views.schema(s.name).json, None, Some(s.text))
    )
    files.commit { (now, _) =>
      tables.foreach { t =>
        if (now.find(t.name).isDefined) throw ViewsException.exists(t.name)
        t.definition.get.sources.filterNot(s => tables.exists(_.name.equalsIgnoreCase(s))).foreach { s =>
          if (now(s).id != catalog(s).id) throw changedMeanwhile(s)
        }
      }
      val added = tables.foldLeft(now) { (c, t) =>
        val all = c.copy(tables = c.tables :+ t)
        val d = t.definition.get
        val start = if (backfill) ViewStart.earliest(all, d) else ViewStart.newest(all, d)
        start.fold(all)(s => all.updated(ViewStart.at(all, t, s)))
      }
      (added, ())
    }
    statements.map(_.text)
  }

  private def changedMeanwhile(name: String) =
    ViewsException.catalog(s"'$name' was replaced by another one while the view was created; try again.")

  /** The views of one text. They can read each other, in any order. */
  private final class ViewsOfText(catalog: Catalog) {
    private var statements = VectorMap.empty[String, Statement]
    private var schemas = Map.empty[String, StructType]

    def read(texts: Vector[StatementText]): Vector[Statement] = {
      val (direct, translated) = texts.partition(_.isViewDf)
      direct.foreach(p => add(StatementParser.parse(p)))
      Dependencies.ordered(statements.values.toVector): Unit // fails if they form a cycle: a translation needs the columns of its source
      translated.foreach { p =>
        Translate(p.text, source).foreach(text =>
          StatementText.split(text).foreach(q => add(StatementParser.parse(q)))
        )
      }
      val all = statements.values.toVector
      Dependencies.ordered(all)
      all.foreach(check)
      all
    }

    private def add(s: Statement): Unit = {
      if (catalog.find(s.name).isDefined || statements.contains(s.name.toLowerCase)) throw ViewsException.exists(s.name)
      NameChecks.check(s.name)
      statements += s.name.toLowerCase -> s
    }

    private def source(name: String): Option[SourceTable] =
      length(name).map(n => SourceTable(schema(name), n))

    private def length(name: String): Option[Long] =
      catalog.find(name).map(_.length).orElse(statements.get(name.toLowerCase).map(_.length))

    def schema(name: String): StructType = catalog.find(name).map(_.columns).getOrElse {
      schemas.getOrElse(
        name.toLowerCase, {
          val s = statements(name.toLowerCase)
          references(s)
          val columns = NameChecks.columns(queries.schema(s.initialize, known), s.name, queries.sameName)
          schemas += name.toLowerCase -> columns
          columns
        }
      )
    }

    private def known(name: String): Option[StructType] = length(name).map(_ => schema(name))

    private def check(s: Statement): Unit = {
      val columns = schema(s.name)
      QueryRunner.check(queries.schema(s.update, known), columns, s"the ${s.update.clause}")
      Vector(s.initialize, s.update).filter(_.references.isEmpty).foreach { q =>
        throw ViewsException.definition(
          s"In the ${q.clause}: the query reads no part of a table, such as M[${q.variable}], so nothing says when to run it."
        )
      }
    }

    private def references(s: Statement): Unit = {
      Vector(s.initialize, s.update).foreach { q =>
        q.references.foreach { r =>
          def fail(problem: String): Nothing =
            throw ViewsException.definition(s"In the ${q.clause}, ${r.place}: $problem.")
          val length = this.length(r.table).getOrElse {
            val names = (catalog.tables.map(_.name) ++ statements.values.map(_.name)).sorted
            fail(
              s"${r.text} is a part of '${r.table}', and there is no such table or view; there are ${names.mkString(", ")}"
            )
          }
          if (!r.low.keepsPace(s.length, length) || !r.high.keepsPace(s.length, length))
            fail(
              s"${r.text} does not go with the lengths: a part of ${s.name} is ${Durations.words(s.length)} and one of ${r.table} ${Durations.words(length)}${hint(r.table, q.variable, s.length, length)}"
            )
          if (!r.low.atMost(r.high)) fail(s"the range ${r.text} is empty: it goes from low to high")
          if (r.to(s.name) && (q eq s.initialize))
            fail(s"INITIALIZE makes the first part, so there is no ${r.text} yet")
          if (r.to(s.name) && r.high.at(0) >= 0)
            fail(s"${r.text} is not before the part that is made: a view can use its own earlier parts only")
        }
      }
    }

    /** How to write the reference for these lengths. */
    private def hint(table: String, j: String, view: Long, source: Long): String =
      if (view % source == 0) {
        val n = view / source
        if (n == 1) s"; write $table[$j]" else s"; write $table[$j*$n..$j*$n+${n - 1}]"
      } else if (source % view == 0) s"; write $table[$j/${source / view}]"
      else "; one must be a multiple of the other"
  }
}
