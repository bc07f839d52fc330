package sparkcer.internal.bind

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.trees.TreePattern
import org.apache.spark.sql.cerbridge.{Columns, Plans}
import org.apache.spark.sql.types._

import sparkcer.engine.ceql.{Comparisons, Comparison, Operator, Term}
import sparkcer.internal.prepare.AsLong

/** The comparisons between events of a query, as Spark SQL over the columns of events. The events of a comparison are
  * struct columns of one row, so that Spark itself resolves types and adds casts.
  */
final private[sparkcer] class ComparisonBinding(b: Binding) {
  import ComparisonBinding._

  private val program = b.program
  private val parts = program.comparisons.map(l => math.max(2, l.variables.length + 1) max terms(l).length).maxOption
  private lazy val events = Plans.empty(
    b.df,
    StructType((0 until parts.getOrElse(0)).map(i => StructField(part(i), b.schema, nullable = false)))
  )

  private val comparisons: Vector[(Vector[Expression], Vector[Expression])] = program.comparisons.map {
    case l @ Comparison.Pair(left, operator, right) => (compared(l, Vector(left, right), operator), Vector.empty)
    case l @ Comparison.Consecutive(before, operator, current) =>
      (compared(l, Vector(before, current), operator), Vector.empty)
    case s: Comparison.Span                => (span(s), Vector.empty)
    case l @ Comparison.Same(terms)        => (same(l, terms), Vector.empty)
    case expression: Comparison.Expression => (Vector.empty, Vector(expressionOf(expression)))
  }

  /** Expressions over the columns of `events`. */
  private val (values, expressions) = {
    val values = comparisons.flatMap(_._1)
    val all =
      if (comparisons.isEmpty) Nil
      else Columns.evaluable(events, values.map(Comparable(_)) ++ comparisons.flatMap(_._2))
    all.toVector.splitAt(values.length)
  }

  /** The columns of events that are compared. */
  val columns: Set[String] =
    (values ++ expressions).flatMap(_.collect { case Column(_, f) => b.schema(f).name }).toSet

  /** The same expressions over the row of an event's payload, which has these columns. */
  def over(shown: StructType): BoundComparisons = {
    def place(f: Int) = shown.fieldIndex(b.schema(f).name)
    BoundComparisons(
      values.map(_.transform { case Column(_, f) =>
        val i = place(f)
        BoundReference(i, shown(i).dataType, shown(i).nullable)
      }),
      expressions.map(_.transform { case Column(i, f) =>
        GetStructField(BoundReference(i, shown, nullable = false), place(f), Some(b.schema(f).name))
      })
    )
  }

  private object Column {

    /** The number of the event in the comparison, and the number of the column. */
    def unapply(e: Expression): Option[(Int, Int)] = e match {
      case GetStructField(a: AttributeReference, f, _) if a.name.startsWith(Prefix) =>
        Some((a.name.stripPrefix(Prefix).toInt, f))
      case _ => None
    }
  }

  private def compared(l: Comparison, terms: Vector[Term], operator: Operator): Vector[Expression] = {
    val sides = terms.zipWithIndex.map { case (t, i) => (side(l, t, i), t) }
    val (left, right) = (sides(0)._1._1, sides(1)._1._1)
    def typed(i: Int) = (sides(i)._2, sides(i)._1._2)
    val comparison = operator match {
      case Operator.Equal | Operator.NotEqual => EqualTo(left, right)
      case Operator.Less                      => LessThan(left, right)
      case Operator.LessEqual                 => LessThanOrEqual(left, right)
      case Operator.Greater                   => GreaterThan(left, right)
      case Operator.GreaterEqual              => GreaterThanOrEqual(left, right)
    }
    val resolved =
      try Columns.resolve(events, Columns.column(comparison))
      catch { case _: AnalysisException => mismatch(l, typed(0), typed(1)) }
    resolved match {
      case BinaryComparison(a, c) => Vector(a, c)
      case other                  => throw new IllegalStateException(s"not a comparison: $other")
    }
  }

  /** The two times of a sub-window, as longs. */
  private def span(s: Comparison.Span): Vector[Expression] = {
    val (column, size) = b.sizeOf(s.window, s.offset)
    def time(i: Int) =
      Columns.resolve(events, Columns.column(AsLong(UnresolvedAttribute(Seq(part(i), column.name)))))
    Vector(Earliest(time(0), Clock(column.dataType), size), time(1))
  }

  /** All values cast to one type. Two values are equal in it exactly when SQL's `=` says so in their own types.
    */
  private def same(l: Comparison, terms: Vector[Term]): Vector[Expression] = {
    val sides = terms.zipWithIndex.map { case (t, i) => (t, side(l, t, i)._2) }
    val types = sides.map(_._2.dataType).distinct
    val all = sides.map(_._2)
    if (types.length == 1) {
      compared(l, Vector(terms.head, terms.last), Operator.Equal): Unit
      all
    } else {
      val common = terms.tail.foldLeft(all.head) { (widest, t) =>
        val other = sides(terms.indexOf(t))._2
        try
          Columns.resolve(events, Columns.column(EqualTo(widest, other))) match {
            case BinaryComparison(a, _) => a
            case other                  => throw new IllegalStateException(s"not a comparison: $other")
          }
        catch { case _: AnalysisException => mismatch(l, (terms.head, widest), (t, other)) }
      }
      sides.find(s => !keepsValues(s._2.dataType, common.dataType)).foreach { case (t, e) =>
        b.fail(
          l.offset,
          "CER_TYPE_MISMATCH.COMPARED_AS",
          "comparison" -> l.show,
          "side" -> t.shown,
          "type" -> e.dataType.sql,
          "common" -> common.dataType.sql
        )
      }
      all.map(e => if (e.dataType == common.dataType) e else cast(e, common.dataType))
    }
  }

  private def cast(e: Expression, to: DataType): Expression =
    Columns.resolve(events, Columns.column(Cast(e, to)))

  /** A term, unresolved and resolved. */
  private def side(l: Comparison, t: Term, i: Int): (Expression, Expression) = {
    val parsed = placed(parse(l, t.sql), part(i) +: _)
    checkColumns(l, parsed)
    val bound = b.params.bind(parsed)
    (bound, resolve(l, bound, t.shown))
  }

  private def expressionOf(l: Comparison.Expression): Expression = {
    def index(variable: String) = if (variable == Comparison.Prev) l.variables.length else l.variables.indexOf(variable)
    val parsed =
      if (l.own.isEmpty) placed(parse(l, l.sql), names => part(index(names.head)) +: names.tail)
      else
        placed(
          parse(l, Comparisons.renamed(l, x => part(index(x)))),
          names => if (names.head.startsWith(Prefix)) names else part(0) +: names
        )
    checkColumns(l, parsed)
    val resolved = resolve(l, b.params.bind(parsed), l.sql)
    b.mustBeBoolean(resolved, l.sql, l.offset)
    resolved
  }

  private def parse(l: Comparison, sql: String): Expression = b.parse(sql, s"'${l.show}'", l.offset)

  private def resolve(l: Comparison, e: Expression, shown: String): Expression = {
    val resolved =
      try Columns.resolve(events, Columns.column(e))
      catch {
        case e: AnalysisException =>
          b.fail(l.offset, "CER_TYPE_MISMATCH.COMPARISON", "comparison" -> shown, "reason" -> words(l, e))
      }
    val whole = resolved.collect { case a: AttributeReference => a }.length !=
      resolved.collect { case Column(_, _) => () }.length
    if (whole) b.fail(l.offset, "CER_UNSUPPORTED.COMPARED_EVENT", "sql" -> shown)
    val refused =
      if (resolved.containsPattern(TreePattern.CURRENT_LIKE)) Some("what" -> "the current time")
      else b.refusal(resolved)
    refused.foreach(b.fail(l.offset, "CER_UNSUPPORTED.COMPARISON", "sql" -> shown, _))
    resolved
  }

  /** The message of Spark, with the names of the query. */
  private def words(l: Comparison, e: AnalysisException): String = {
    val names = l match {
      case Comparison.Pair(left, _, right) => Vector(left.variable, right.variable)
      case s: Comparison.Span              => s.variables
      case Comparison.Same(terms)          => terms.map(_.variable)
      case l: Comparison.Consecutive       => Vector(Comparison.Prev) ++ l.variables
      case l: Comparison.Expression        => l.variables :+ Comparison.Prev
    }
    names.indices.foldLeft(b.firstLine(e))((text, i) => text.replace(part(i), names(i)))
  }

  private def checkColumns(l: Comparison, e: Expression): Unit = e.foreach {
    case UnresolvedAttribute(_ +: name +: _) if !b.schema.exists(f => b.same(f.name, name)) =>
      b.unknown(name, b.place(name, l.offset))
    case _ => ()
  }

  private def mismatch(l: Comparison, left: (Term, Expression), right: (Term, Expression)): Nothing =
    b.fail(
      l.offset,
      "CER_TYPE_MISMATCH.COMPARED",
      "left" -> left._1.shown,
      "leftType" -> left._2.dataType.sql,
      "right" -> right._1.shown,
      "rightType" -> right._2.dataType.sql
    )

  /** Replaces the names of variables by the columns of their events. */
  private def placed(e: Expression, at: Seq[String] => Seq[String]): Expression =
    new Names(b.same, names => UnresolvedAttribute(at(names)))(e)
}

private[sparkcer] object ComparisonBinding {
  private val Prefix = "__cer_event_"

  private def part(i: Int): String = s"$Prefix$i"

  private def terms(l: Comparison): Vector[Term] = l match {
    case Comparison.Same(terms) => terms
    case _                      => Vector.empty
  }

  /** Does a cast from one type to the other keep different values different? */
  private def keepsValues(from: DataType, to: DataType): Boolean = (from, to) match {
    case (a, b) if a == b                                             => true
    case (ByteType | ShortType | IntegerType | FloatType, DoubleType) => true
    case (ByteType | ShortType, FloatType)                            => true
    case (_, FloatType | DoubleType | _: StringType)                  => false
    case (_: StringType, _)                                           => false
    case (_: DateType, TimestampType | TimestampNTZType)              => true
    case (a, b)                                                       => Cast.canUpCast(a, b)
  }
}
