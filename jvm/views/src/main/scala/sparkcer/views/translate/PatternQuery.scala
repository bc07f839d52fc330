package sparkcer.views.translate

import org.apache.spark.sql.catalyst.util.quoteIfNeeded
import org.apache.spark.sql.types.{DataType, DecimalType}

import sparkcer.views.statement.{SqlSpan, SqlToken}

/** Translates a pattern over the rows of each group, with one row in each part (Section 5.1 of ViewDF). A helper view
  * has the runs of a state machine (Algorithms 1 and 2), and the view reads the runs in the accepting state (Algorithm
  * 3).
  *
  * A run in state k has bound the first k variables. For a row of its group there are three possibilities, in this
  * order: it stays at a `+` variable, it goes to the next variable, or it is tried as the start of a new run. A run
  * ends if a part has no row of its group. Every edge that binds a variable has the conditions of this variable.
  */
final private[views] class PatternQuery(query: ViewQuery) {
  import PatternQuery._
  import Translate.select

  private val variables: Vector[PatternVariable] = {
    val parts = SqlToken.split(query.pattern.get)(_.text == ",")
    val found = parts.map(p =>
      SqlToken.of(p) match {
        case Vector(v) if v.isName                           => PatternVariable(v.name, plus = false, p)
        case Vector(v, plus) if v.isName && plus.text == "+" => PatternVariable(v.name, plus = true, p)
        case _                                               => p.fail("CER_SYNTAX.VIEW_VARIABLE")
      }
    )
    found.zipWithIndex.foreach { case (v, i) =>
      if (found.take(i).exists(w => ViewQuery.same(w.name, v.name)))
        v.span.fail("CER_SYNTAX.VIEW_VARIABLE_TWICE", "name" -> v.name)
    }
    found
  }

  private val names = new FreshNames(query.groups.map(_.name) ++ Seq("New", "Prev"))
  private val aggregates = new Aggregates(query, names, needsValues = false)
  private val state = names.fresh("state")
  private val next = names.fresh("next_state")
  private val starts = names.fresh("starts")

  /** Columns of earlier variables that the conditions of later variables need. */
  private var carried = Vector.empty[CarriedColumn]

  private val conditions: Vector[EdgeCondition] =
    query.where.fold(Vector.empty[EdgeCondition])(w => conjuncts(w).map(condition))

  private def condition(span: SqlSpan): EdgeCondition = {
    val e = new SqlExpression(span)
    if (e.aggregates.nonEmpty) span.fail("CER_SYNTAX.VIEW_AGGREGATE_IN_WHERE")
    val mentioned = e.attributes.map(a => variableOf(a) -> a)
    if (mentioned.isEmpty) span.fail("CER_SYNTAX.VIEW_CONDITION", "variables" -> shownVariables)
    val last = mentioned.map(_._1).max
    val edits = mentioned.map { case (v, a) =>
      val path = a.path.tail.map(quoteIfNeeded)
      if (v == last) a.span -> ("New" +: path).mkString(".")
      else a.span -> (s"Prev.${quoteIfNeeded(carry(v, a).name)}" +: path.tail).mkString(".")
    }
    EdgeCondition(last, e.edited(edits), mentioned.forall(_._1 == last))
  }

  private def shownVariables = variables.map(_.name).mkString(", ")

  private def variableOf(a: SqlExpression.ColumnReference): Int = {
    val i = variables.indexWhere(v => ViewQuery.same(v.name, a.path.head))
    if (i < 0 || a.path.length < 2) {
      val column = "column" -> a.span.text
      if (query.isColumn(a.path))
        a.span.fail("CER_UNKNOWN_VARIABLE.VIEW_WHICH_ROW", column, "variable" -> variables.head.name)
      else a.span.fail("CER_UNKNOWN_VARIABLE.VIEW_PATTERN", column, "variables" -> shownVariables)
    }
    query.checkColumn(a.copy(path = a.path.tail))
    i
  }

  private def carry(variable: Int, a: SqlExpression.ColumnReference): CarriedColumn = {
    val v = variables(variable)
    if (v.plus) a.span.fail("CER_UNSUPPORTED.VIEW_PLUS", "variable" -> v.name)
    val field = query.source.schema.fields.find(f => ViewQuery.same(f.name, a.path(1))).get
    carried.find(c => c.variable == variable && c.column == field.name).getOrElse {
      val name = names.fresh(s"${v.name}_${field.name}")
      val made = CarriedColumn(name, names.fresh(s"new_$name"), variable, field.name, field.dataType)
      carried = carried :+ made
      made
    }
  }

  /** The conditions on an edge that binds a variable, as SQL. */
  private def edge(variable: Int): String = {
    val on = conditions.filter(_.variable == variable).map(_.text).distinct
    if (on.isEmpty) "true" else all(on)
  }

  private def all(conditions: Seq[String]): String =
    if (conditions.length == 1) conditions.head else conditions.map(c => s"($c)").mkString(" AND ")

  /** A condition that every row meets that some variable can bind. Other rows are left out. */
  private def anywhere: Option[String] = {
    val own = variables.indices.map(v => conditions.filter(c => c.variable == v && c.own).map(_.text).distinct)
    if (own.exists(_.isEmpty)) None
    else
      own.distinct match {
        case Seq(only) => Some(all(only))
        case several   => Some(several.map(c => s"(${all(c)})").mkString(" OR "))
      }
  }

  private val view = quoteIfNeeded(query.name)
  private val helper = quoteIfNeeded(s"${query.name}_helper")

  private def ofNew(e: SqlExpression): String =
    e.edited(e.attributes.map(a => a.span -> s"New.${a.span.text}"))

  private val columns: Vector[RunColumn] = aggregates.columns.map { k =>
    val prev = k.text
    k.kind match {
      case HelperColumn.Rows => RunColumn(k.name, "1L", None, _ => s"$prev + 1")
      case kind              =>
        val value = ofNew(k.argument.get)
        kind match {
          case HelperColumn.Values =>
            RunColumn(
              k.name,
              s"CASE WHEN $value IS NULL THEN 0L ELSE 1L END",
              Some(names.fresh(s"new_${k.name}")),
              now => s"$prev + $now"
            )
          case HelperColumn.Sum =>
            val first = s"CAST($value AS ${sumType(k).sql})"
            val fresh = names.fresh(s"new_${k.name}")
            // NULL is left out, as in sum().
            def sum(now: String) = s"coalesce($prev + $now, $prev, $now)"
            RunColumn(
              k.name,
              first,
              Some(fresh),
              now => if (isDecimal(k)) s"CAST(${sum(now)} AS ${sumType(k).sql})" else sum(now)
            )
          case HelperColumn.Min =>
            RunColumn(k.name, value, Some(names.fresh(s"new_${k.name}")), now => s"least($prev, $now)")
          case _ => RunColumn(k.name, value, Some(names.fresh(s"new_${k.name}")), now => s"greatest($prev, $now)")
        }
    }
  }

  private def isDecimal(k: HelperColumn) = sumType(k).isInstanceOf[DecimalType]

  /** One digit less than the widest DECIMAL of Spark, so that the sum of two keeps its scale. */
  private def sumType(k: HelperColumn): DataType =
    if (k.wide) DecimalType(37, 0)
    else
      SqlExpression.dataType(s"sum(${k.argument.get.span.text})", query.source.schema, k.argument.get.span) match {
        case d: DecimalType if d.precision > 37 => DecimalType(37, d.scale)
        case other                              => other
      }

  private def initialize(part: String): Seq[String] =
    select(
      query.groups.map(g => s"New.${g.text} AS ${g.text}") ++
        columns.map(c => s"${c.first} AS ${c.text}") ++
        carried.map(c => s"${if (c.variable == 0) c.ofNew else s"CAST(NULL AS ${c.dataType.sql})"} AS ${c.text}") :+
        s"1 AS $state"
    ) ++ Seq(s"FROM ${query.sourceText}[$part] AS New", s"WHERE ${edge(0)}")

  /** The inner query computes the next state of each run, and the outer query its columns in that state. */
  private def update(part: String): Seq[String] = {
    val edges = variables.indices.flatMap { k =>
      val stay = if (variables(k).plus) Seq(when(k + 1, edge(k), k + 1)) else Nil
      val advance = if (k + 1 < variables.length) Seq(when(k + 1, edge(k + 1), k + 2)) else Nil
      stay ++ advance
    }
    val goes =
      if (edges.isEmpty) Seq(s"CAST(NULL AS INT) AS $next")
      else (s"CASE ${edges.head}" +: edges.tail.map("     " + _)) :+ s"END AS $next"
    val join =
      if (query.groups.isEmpty) "true" else query.groups.map(g => s"New.${g.text} <=> Prev.${g.text}").mkString(" AND ")
    val inner =
      Translate.selectLines(
        (query.groups.map(g => s"New.${g.text} AS ${g.text}") ++
          columns.flatMap(c =>
            s"Prev.${c.text} AS ${c.text}" +: c.fresh.map(f => s"${c.first} AS ${quoteIfNeeded(f)}").toSeq
          ) ++
          carried.flatMap(c => Seq(s"Prev.${c.text} AS ${c.text}", s"${c.ofNew} AS ${c.freshText}")))
          .map(Seq(_)) ++ Seq(goes, Seq(s"${edge(0)} AS $starts"))
      ) ++ Seq(
        s"FROM ${query.sourceText}[$part] AS New",
        s"LEFT OUTER JOIN $helper[$part-1] AS Prev ON $join"
      ) ++ anywhere.map(w => s"WHERE $w")
    def either(fresh: String, goesOn: String) = s"CASE WHEN $next IS NULL THEN $fresh ELSE $goesOn END"
    val outer = select(
      query.groups.map(_.text) ++
        columns.map { c =>
          val now = c.fresh.fold(c.first)(quoteIfNeeded)
          s"${either(now, c.step(now))} AS ${c.text}"
        } ++
        carried.map { c =>
          val fresh = if (c.variable == 0) c.freshText else "NULL"
          s"CASE WHEN $next IS NULL THEN $fresh WHEN $next = ${c.variable + 1} THEN ${c.freshText} ELSE ${c.text} END AS ${c.text}"
        } :+ s"coalesce($next, 1) AS $state"
    )
    outer ++ Seq("FROM (") ++ inner.map("  " + _) ++ Seq(")", s"WHERE $next IS NOT NULL OR $starts")
  }

  private def when(state: Int, condition: String, to: Int): String =
    s"WHEN Prev.${this.state} = $state AND ($condition) THEN $to"

  private val output = new OutputClauses(query, aggregates)

  private def finished(part: String): Seq[String] =
    select(output.items(_.text)) ++
      Seq(
        s"FROM $helper[$part]",
        s"WHERE $state = ${variables.length}${output.having(_.text).fold("")(h => s" AND ($h)")}"
      )

  def statements: Seq[String] = Seq(
    Translate.viewDF(helper, query.source.length, initialize, update),
    Translate.viewDF(view, query.source.length, finished, finished)
  )
}

private[views] object PatternQuery {
  final private case class PatternVariable(name: String, plus: Boolean, span: SqlSpan)

  /** A conjunct of WHERE. It is on the edges that bind `variable`, and `own` if it names no other variable. */
  final private case class EdgeCondition(variable: Int, text: String, own: Boolean)

  /** A column of the helper view.
    *
    * @param first
    *   its value at the start of a run
    * @param fresh
    *   the name of the value of the new row, if it needs one
    * @param step
    *   its next value, from the value of the new row
    */
  final private case class RunColumn(name: String, first: String, fresh: Option[String], step: String => String) {
    def text: String = quoteIfNeeded(name)
  }

  /** A column of a variable that the helper view keeps for conditions of later variables. */
  final private case class CarriedColumn(
      name: String,
      fresh: String,
      variable: Int,
      column: String,
      dataType: DataType
  ) {
    def text: String = quoteIfNeeded(name)
    def freshText: String = quoteIfNeeded(fresh)
    def ofNew: String = s"New.${quoteIfNeeded(column)}"
  }

  def apply(query: ViewQuery): Seq[String] = new PatternQuery(query).statements

  /** The conditions that AND connects, also inside parentheses around several of them. The AND of BETWEEN does not
    * count.
    */
  private def conjuncts(span: SqlSpan): Vector[SqlSpan] = {
    val tokens = SqlToken.of(span)
    val outer = SqlToken.outer(tokens)
    if (outer.isEmpty && tokens.headOption.exists(_.text == "(") && encloses(tokens))
      conjuncts(SqlToken.trimmed(SqlSpan(span.statement, tokens.head.span.end, tokens.last.span.start)))
    else if (outer.exists(_.is("OR"))) Vector(span)
    else {
      var between = false
      val parts = SqlToken.split(span) { t =>
        val own = between && t.is("AND")
        if (t.is("BETWEEN")) between = true else if (own) between = false
        t.is("AND") && !own
      }
      if (parts.length == 1) parts else parts.flatMap(conjuncts)
    }
  }

  /** Does the last token close the first? */
  private def encloses(tokens: Vector[SqlToken]): Boolean = {
    val depths = tokens.scanLeft(0)((d, t) => if (t.opens) d + 1 else if (t.closes) d - 1 else d).tail
    depths.init.forall(_ > 0) && depths.last == 0
  }
}
