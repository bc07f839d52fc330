package sparkcer.views.catalog

import java.util.UUID

import scala.collection.immutable.VectorMap

import org.apache.spark.sql.cerbridge.Plans
import org.apache.spark.sql.types.StructType

import sparkcer.internal.bind.Durations
import sparkcer.views.ViewsException
import sparkcer.views.maintain.Queries
import sparkcer.views.statement.{References, Statement, StatementParser}
import sparkcer.views.store.Storage
import sparkcer.views.translate.{Source, Translate}

/** Creates views: reads their statements, checks all of them against their sources, and puts them into the catalog
  * together or not at all.
  */
private[views] final class Definer(files: CatalogFiles, queries: Queries) {

  /** The statements as they were executed: translated ones as what they became. */
  def create(pieces: Vector[StatementParser.Piece], backfill: Boolean): Vector[String] = {
    val catalog = files.load()
    val work = new Work(catalog)
    val statements = Dependencies.ordered(work.read(pieces))
    val tables = statements.map(s =>
      Table(s.name, UUID.randomUUID().toString, s.length, work.schema(s.name).json, None, Some(s.text))
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
        val start = if (backfill) Start.earliest(all, d) else Start.newest(all, d)
        start.fold(all)(s => all.updated(Start.at(all, t, s)))
      }
      (added, ())
    }
    statements.map(_.text)
  }

  private def changedMeanwhile(name: String) =
    ViewsException.catalog(s"'$name' was replaced by another one while the view was created; try again.")

  /** The views of one text, which may use each other in any order. */
  private final class Work(catalog: Catalog) {
    private var statements = VectorMap.empty[String, Statement]
    private var schemas = Map.empty[String, StructType]

    def read(pieces: Vector[StatementParser.Piece]): Vector[Statement] = {
      val (direct, translated) = pieces.partition(_.isViewDf)
      direct.foreach(p => add(StatementParser.parse(p)))
      Dependencies.ordered(statements.values.toVector): Unit // a translation asks for the columns of these
      translated.foreach { p =>
        Translate(p.text, source).foreach(text =>
          StatementParser.split(text).foreach(q => add(StatementParser.parse(q)))
        )
      }
      val all = statements.values.toVector
      Dependencies.ordered(all)
      all.foreach(check)
      all
    }

    private def add(s: Statement): Unit = {
      if (catalog.find(s.name).isDefined || statements.contains(s.name.toLowerCase)) throw ViewsException.exists(s.name)
      Names.check(s.name)
      statements += s.name.toLowerCase -> s
    }

    private def source(name: String): Option[Source] =
      length(name).map(n => Source(schema(name), n))

    private def length(name: String): Option[Long] =
      catalog.find(name).map(_.length).orElse(statements.get(name.toLowerCase).map(_.length))

    def schema(name: String): StructType = catalog.find(name).map(_.columns).getOrElse {
      schemas.getOrElse(
        name.toLowerCase, {
          val s = statements(name.toLowerCase)
          references(s)
          val columns = Names.columns(queries.schema(s.initialize, known), s.name, queries.sameName)
          schemas += name.toLowerCase -> columns
          columns
        }
      )
    }

    private def known(name: String): Option[StructType] = length(name).map(_ => schema(name))

    private def check(s: Statement): Unit = {
      val columns = schema(s.name)
      Queries.check(queries.schema(s.update, known), columns, s"the ${s.update.clause}")
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
              s"${r.text} does not go with the lengths: a part of ${s.name} is ${Durations.words(s.length)} and one of ${r.table} ${Durations.words(length)}${Pace.hint(r.table, q.variable, s.length, length)}"
            )
          if (!r.low.atMost(r.high)) fail(s"the range ${r.text} is empty: it goes from low to high")
          if (r.to(s.name) && (q eq s.initialize))
            fail(s"INITIALIZE makes the first part, so there is no ${r.text} yet")
          if (r.to(s.name) && r.high.at(0) >= 0)
            fail(s"${r.text} is not before the part that is made: a view can use its own earlier parts only")
        }
      }
    }
  }
}

/** What a reference should look like for the lengths. */
private[views] object Pace {
  def hint(table: String, j: String, view: Long, source: Long): String =
    if (view % source == 0) {
      val n = view / source
      if (n == 1) s"; write $table[$j]" else s"; write $table[$j*$n..$j*$n+${n - 1}]"
    } else if (source % view == 0) s"; write $table[$j/${source / view}]"
    else "; one must be a multiple of the other"
}

/** Names of tables, views and columns. */
private[views] object Names {
  def check(name: String): Unit =
    if (!name.matches("[A-Za-z0-9][A-Za-z0-9_]*"))
      throw ViewsException.definition(
        s"'$name' is no name for a table or a view: take letters, digits and underscores."
      )

  /** The columns as they are stored: each may be NULL, and each has a name of its own. */
  def columns(schema: StructType, view: String, same: (String, String) => Boolean): StructType = {
    val names = schema.fieldNames
    names.map(n => names.filter(same(_, n))).find(_.length > 1).foreach { several =>
      throw ViewsException.definition(
        s"$view would have ${several.length} columns '${several.head}': give each a name of its own."
      )
    }
    schema.fieldNames
      .find(n => n.equalsIgnoreCase(References.PartTimestamp) || n.equalsIgnoreCase(Storage.PartColumn))
      .foreach { n =>
        throw ViewsException.definition(
          s"$view would have a column '$n', a name that is taken: give it another with AS."
        )
      }
    Plans.nullable(schema)
  }
}
