package sparkcer.views.maintain

import java.util.Locale

import org.apache.spark.sql.{AnalysisException, DataFrame, SparkSession}
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation
import org.apache.spark.sql.catalyst.expressions.{Cast, Expression, PlanExpression}
import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, SubqueryAlias, UnresolvedWith}
import org.apache.spark.sql.cerbridge.{CerException, Columns, Plans, Sessions}
import org.apache.spark.sql.types.StructType

import sparkcer.views.catalog.{Catalog, Part, PartTime, Table}
import sparkcer.views.statement.{PartQuery, PartQueryParser, PartReference, StatementLexer, StatementParser}
import sparkcer.views.store.{PartColumns, Storage}

/** Runs the queries of statements and of users. Spark parses them, and part references are replaced by scans of parts.
  */
private[views] final class QueryRunner(spark: SparkSession, storage: Storage) {
  import QueryRunner._

  /** Computes a part of a view, with the columns of the view. */
  def part(catalog: Catalog, view: Table, index: Long): DataFrame = {
    val query = view.query(index)
    val where = s"the ${query.clause}, part $index (${PartTime.words(index, view.length)})"
    val rows = analyzed(query, where, catalog.find(_).isDefined) { r =>
      val source = catalog(r.table)
      relation(r.table, source, source.between(r.parts(index)), query.timestamps)
    }
    assigned(rows, view.columns, where)
  }

  /** Compares names as the session does. */
  def sameName: (String, String) => Boolean = Sessions.sameName(spark)

  /** The plan of a query, over tables without rows. */
  def plan(query: PartQuery, source: String => Option[StructType]): LogicalPlan = Plans.planOf(
    analyzed(query, s"the ${query.clause}", source(_).isDefined) { r =>
      val columns = source(r.table).get
      SubqueryAlias(r.table, Storage.empty(if (query.timestamps) PartColumns.withTimestamp(columns) else columns))
    }
  )

  /** The names of the tables that a query reads and that are not in the folder, as they are written. */
  def outside(query: PartQuery): Vector[Seq[String]] = {
    val parts = query.references.map(_.key).toSet
    val plan = parse(query)
    val own = commonTables(plan)
    var found = Vector.empty[Seq[String]]
    rewrite(plan) { name =>
      if (name.length > 1 || !parts(name.head) && !own(name.head.toLowerCase(Locale.ROOT))) found :+= name
      None
    }: Unit
    found.distinct
  }

  /** A query of the user. A table or view is read with all its parts, or with the parts in brackets. */
  def adHoc(catalog: Catalog, text: String): DataFrame = {
    val query = PartQueryParser(text, StatementLexer(text), None, "query")
    def whole(name: String) = catalog.find(name).map(t => relation(t.name, t, t.parts, timestamps = true))
    val parts = query.references.map(r => r.key -> r).toMap
    inWords("the query") {
      Plans.dataFrame(
        spark,
        rewrite(parse(query)) {
          case Seq(key) if parts.contains(key) =>
            val r = parts(key)
            val table = catalog(r.table)
            val wanted = r.parts(0)
            wanted.indexes.find(table.part(_).isEmpty).foreach(n => throw PartTime.missing(table, n))
            Some(relation(r.table, table, table.between(wanted), timestamps = true))
          case Seq(name) => whole(name)
          case _         => None
        }
      )
    }
  }

  /** The rows of parts, with PART_TIMESTAMP. */
  def rows(table: Table, parts: Seq[Part]): DataFrame =
    PartColumns.stamped(storage.scan(table, parts), table.columns, table.length, timestamps = true)

  private def relation(name: String, table: Table, parts: Seq[Part], timestamps: Boolean): LogicalPlan =
    SubqueryAlias(
      name,
      Plans.planOf(PartColumns.stamped(storage.scan(table, parts), table.columns, table.length, timestamps))
    )

  private def analyzed(query: PartQuery, where: String, known: String => Boolean)(
      part: PartReference => LogicalPlan
  ): DataFrame = {
    val parts = query.references.map(r => r.key -> r).toMap
    inWords(where) {
      val plan = parse(query)
      val own = commonTables(plan)
      Plans.dataFrame(
        spark,
        rewrite(plan) {
          case Seq(key) if parts.contains(key)                                 => Some(part(parts(key)))
          case Seq(name) if known(name) && !own(name.toLowerCase(Locale.ROOT)) =>
            val variable = "variable" -> query.variable
            throw StatementParser.wrong("WHICH_PARTS", s"the ${query.clause}", "name" -> name, variable)
          case _ => None
        }
      )
    }
  }

  private def parse(query: PartQuery): LogicalPlan = Sessions.session(spark).sessionState.sqlParser.parsePlan(query.sql)
}

private[views] object QueryRunner {

  /** Rows with the columns of a view, by position. Types are converted as Spark converts them when it writes to a
    * table.
    */
  def assigned(rows: DataFrame, columns: StructType, where: String): DataFrame = {
    check(rows.schema, columns, where)
    if (rows.schema.map(_.dataType) == columns.map(_.dataType)) rows.toDF(columns.fieldNames.toIndexedSeq: _*)
    else {
      val plain = rows.toDF(columns.fieldNames.toIndexedSeq: _*)
      plain.select(columns.map { f =>
        val c = PartColumns.quoted(f.name)
        Columns.column(Cast(Columns.resolve(plain, c), f.dataType, ansiEnabled = true)).as(f.name)
      }: _*)
    }
  }

  /** Checks that rows of one schema can be stored as another, column by column. */
  def check(from: StructType, to: StructType, where: String): Unit = {
    if (from.length != to.length)
      throw StatementParser.wrong(
        "COLUMN_COUNT",
        where,
        "count" -> from.length.toString,
        "columns" -> from.fieldNames.mkString(", "),
        "expectedCount" -> to.length.toString,
        "expected" -> to.fieldNames.mkString(", ")
      )
    from.zip(to).foreach { case (f, t) =>
      if (!Cast.canANSIStoreAssign(f.dataType, t.dataType))
        throw StatementParser.wrong(
          "COLUMN_TYPE",
          where,
          "column" -> t.name,
          "type" -> f.dataType.sql,
          "expected" -> t.dataType.sql
        )
    }
  }

  /** Adds the view and its clause to errors of Spark. */
  private def inWords[A](where: String)(body: => A): A =
    try body
    catch {
      case e: CerException      => throw e
      case e: ParseException    => throw wrapped(where, e.getMessage.split("\n== SQL").head.trim)
      case e: AnalysisException => throw wrapped(where, e.getSimpleMessage.trim)
    }

  private def wrapped(where: String, reason: String) = StatementParser.wrong("SPARK", where, "reason" -> reason)

  /** Replaces relations everywhere in an unresolved plan, also in subqueries and in WITH. */
  private def rewrite(plan: LogicalPlan)(replacement: Seq[String] => Option[LogicalPlan]): LogicalPlan = {
    def expression(e: Expression): Expression = e match {
      case s: PlanExpression[_] =>
        s.asInstanceOf[PlanExpression[LogicalPlan]].withNewPlan(in(s.plan.asInstanceOf[LogicalPlan]))
      case other => other
    }
    def in(p: LogicalPlan): LogicalPlan = p match {
      case r: UnresolvedRelation => replacement(r.multipartIdentifier).getOrElse(r)
      case w: UnresolvedWith     =>
        // The elements of its list differ between versions of Spark.
        val arguments = w.productIterator.map {
          case child: LogicalPlan => in(child)
          case list: Seq[_]       => list.map(product)
          case other              => other
        }
        w.makeCopy(arguments.map(_.asInstanceOf[AnyRef]).toArray)
      case other => other.mapChildren(in).transformExpressions { case e => expression(e) }
    }
    def product(entry: Any): Any = entry match {
      case (name, query: SubqueryAlias)       => (name, in(query))
      case (name, query: SubqueryAlias, more) => (name, in(query), more)
      case other                              => other
    }
    in(plan)
  }

  /** The names that are defined in WITH clauses. */
  private def commonTables(plan: LogicalPlan): Set[String] = {
    def in(p: LogicalPlan): Set[String] = {
      val inner = p match {
        case w: UnresolvedWith =>
          w.innerChildren.collect { case a: SubqueryAlias => in(a) + a.alias.toLowerCase(Locale.ROOT) }
        case _ => Nil
      }
      (inner ++ p.children.map(in) ++ p.expressions.flatMap(_.collect { case s: PlanExpression[_] =>
        in(s.plan.asInstanceOf[LogicalPlan])
      })).foldLeft(Set.empty[String])(_ ++ _)
    }
    in(plan)
  }
}
