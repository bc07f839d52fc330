package sparkcer.internal.rules

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

/** The conditions of all rules of a set, each once, in a form in which those that an event meets are found fast.
  *
  * Most conditions have an equality, such as `type = 'login'`. The conditions that compare the same column with a
  * constant are looked up by its value, and only what is left of those that are found is evaluated. So an event costs
  * the conditions whose constants it has, and those without an equality, however many others there are.
  *
  * What is left is interpreted, not compiled: each condition is evaluated for few events, and thousands of generated
  * classes would take longer to compile than they save.
  *
  * It is made once, when a query is planned, and not part of what Spark optimizes for each execution.
  *
  * @param rest
  *   for each condition what is left to be evaluated, bound to the columns of a row; null if nothing is
  */
final private[rules] class ConditionTable private (
    lookups: Array[ConditionTable.Lookup],
    rest: Array[Expression],
    always: Array[Int]
) extends Serializable {

  /** Finds the conditions that events meet. For one thread. */
  final class Finder {

    /** The conditions that the last event meets: the first `count` of these numbers, in no order. */
    var met = new Array[Int](16)
    var count = 0

    /** The condition that is being evaluated, to be named if it fails. */
    var evaluated = -1

    def apply(row: InternalRow): Unit = {
      count = 0
      var i = 0
      while (i < lookups.length) {
        val value = lookups(i).column.eval(row)
        if (value != null) {
          val found = lookups(i).byValue.get(value)
          if (found != null) evaluate(found, row)
        }
        i += 1
      }
      evaluate(always, row)
    }

    private def evaluate(some: Array[Int], row: InternalRow): Unit = {
      var i = 0
      while (i < some.length) {
        val condition = some(i)
        evaluated = condition
        if (rest(condition) == null || java.lang.Boolean.TRUE == rest(condition).eval(row)) {
          if (count == met.length) met = java.util.Arrays.copyOf(met, 2 * count)
          met(count) = condition
          count += 1
        }
        i += 1
      }
    }
  }

  /** The same for rows that have the columns in other places. */
  def moved(places: Int => Int): ConditionTable = {
    def of(e: Expression) = e.transform { case b: BoundReference => b.copy(ordinal = places(b.ordinal)) }
    new ConditionTable(
      lookups.map(l => new ConditionTable.Lookup(of(l.column), l.byValue)),
      rest.map(e => if (e == null) null else of(e)),
      always
    )
  }
}

private[rules] object ConditionTable extends PredicateHelper {
  final class Lookup(val column: Expression, val byValue: java.util.HashMap[Any, Array[Int]]) extends Serializable

  /** @param conditions
    *   bound to the columns of a row
    */
  def apply(conditions: Vector[Expression]): ConditionTable = {
    val split = conditions.map(splitConjunctivePredicates)
    // The more constants a column is compared with, the fewer conditions have one of them.
    val constants: Map[Expression, Int] = split.flatten
      .collect { case Equality(column, value) => (column, value) }
      .distinct
      .groupMapReduce(_._1)(_ => 1)(_ + _)
    val chosen = split.map { parts =>
      val equalities = parts.collect { case e @ Equality(column, _) => e -> constants(column) }
      equalities.maxByOption(_._2).map(_._1)
    }
    val rest = split.zip(chosen).map { case (parts, equality) =>
      equality.fold(parts)(e => parts.diff(Seq(e))).reduceOption(And).orNull
    }
    val found = for ((equality, i) <- chosen.zipWithIndex; Equality(column, value) <- equality) yield (column, value, i)
    val lookups = found.groupBy(_._1).map { case (column, all) =>
      val byValue = new java.util.HashMap[Any, Array[Int]]
      all.groupMap(_._2)(_._3).foreach { case (value, some) => byValue.put(value, some.toArray) }
      new Lookup(column, byValue)
    }
    new ConditionTable(lookups.toArray, rest.toArray, chosen.indices.filter(chosen(_).isEmpty).toArray)
  }

  /** A column, whose evaluation cannot fail, and a constant that it is compared with. */
  private object Equality {
    def unapply(e: Expression): Option[(Expression, Any)] = e match {
      case EqualTo(column: BoundReference, Literal(value, t)) if value != null && isLookedUp(t) => Some((column, value))
      case EqualTo(Literal(value, t), column: BoundReference) if value != null && isLookedUp(t) => Some((column, value))
      case _                                                                                    => None
    }

    /** The types whose values are equal exactly when SQL says so. */
    private def isLookedUp(t: DataType): Boolean = t match {
      case BooleanType | ByteType | ShortType | IntegerType | LongType => true
      case DateType | TimestampType | TimestampNTZType                 => true
      case other                                                       => other == StringType
    }
  }
}
