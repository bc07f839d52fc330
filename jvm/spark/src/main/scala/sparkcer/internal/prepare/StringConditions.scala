package sparkcer.internal.prepare

import org.apache.spark.sql.catalyst.expressions.{Mask => _, _}
import org.apache.spark.sql.execution.vectorized.WritableColumnVector
import org.apache.spark.sql.types.StringType
import org.apache.spark.sql.vectorized.ColumnVector

/** Evaluates the conjuncts of a [[Mask]] that are about one string column on the dictionary of that column. Bit i of
  * the result is set if no such conjunct makes condition i false. If a columnar batch has dictionaries, as from
  * Parquet, a conjunct is evaluated once for each word of the dictionary instead of once for each event, and no string
  * is created. That is most of the cost of a filter over strings.
  *
  * @param masks
  *   for each column, the conjuncts about it, with the column as their only input
  */
final class StringConditions(masks: Array[Mask]) extends Serializable {
  @transient private lazy val words = masks.map(new StringConditions.Words(_))
  @transient private lazy val left = new StringConditions.Left

  /** The conditions that each row of a batch can still meet, or null if a column has no useful dictionary. */
  def of(columns: Array[ColumnVector], rows: Int): Array[Long] = {
    val all = left.of(rows)
    if (columns.indices.forall(i => words(i).narrow(columns(i), rows, all))) all else null
  }
}

object StringConditions extends PredicateHelper {

  /** If words repeat less often than this in a batch, the dictionary of the column is not used from then on. */
  private val Repeats = 4

  final private class Left {
    private var masks = Array.emptyLongArray

    def of(rows: Int): Array[Long] = {
      if (masks.length < rows) masks = new Array(rows)
      java.util.Arrays.fill(masks, 0, rows, -1L)
      masks
    }
  }

  /** The words of a column in the current batch, each evaluated when it first occurs. */
  final private class Words(mask: Mask) {
    private val value = new GenericInternalRow(1)
    private val projection = UnsafeProjection.create(Seq(mask))
    private var known = new Array[Long](32)
    private var knownIn = new Array[Int](32)
    private var batch = 0
    private var evaluated = 0
    private var repeat = true
    private val ofNull = evaluate(null)

    def narrow(column: ColumnVector, rows: Int, all: Array[Long]): Boolean = column match {
      case w: WritableColumnVector if repeat && w.hasDictionary =>
        batch += 1
        val ids = w.getDictionaryIds.getInts(0, rows)
        evaluated = 0
        if (w.hasNull) withNulls(w, ids, rows, all) else withoutNulls(w, ids, rows, all)
        repeat = evaluated <= math.max(rows / Repeats, known.length)
        true
      case _ => false
    }

    private def withoutNulls(w: WritableColumnVector, ids: Array[Int], rows: Int, all: Array[Long]): Unit = {
      var row = 0
      while (row < rows) {
        all(row) &= left(ids(row), w, row)
        row += 1
      }
    }

    private def withNulls(w: WritableColumnVector, ids: Array[Int], rows: Int, all: Array[Long]): Unit = {
      var row = 0
      while (row < rows) {
        all(row) &= (if (w.isNullAt(row)) ofNull else left(ids(row), w, row))
        row += 1
      }
    }

    /** What a word leaves. */
    private def left(id: Int, w: WritableColumnVector, row: Int): Long = {
      if (id >= known.length || knownIn(id) != batch) learn(id, w, row)
      known(id)
    }

    private def learn(id: Int, w: WritableColumnVector, row: Int): Unit = {
      if (id >= known.length) {
        val length = Integer.highestOneBit(id) * 2
        known = java.util.Arrays.copyOf(known, length)
        knownIn = java.util.Arrays.copyOf(knownIn, length)
      }
      known(id) = evaluate(w.getUTF8String(row))
      knownIn(id) = batch
      evaluated += 1
    }

    private def evaluate(string: Any): Long = {
      value.update(0, string)
      projection(value).getLong(0)
    }
  }

  /** A mask by its columns of strings.
    *
    * @param rest
    *   conditions with the conditions that are about other things
    */
  final case class Split(columns: Seq[Attribute], conditions: StringConditions, rest: Seq[(Int, Expression)])

  def split(mask: Mask): Split = {
    val parts = mask.conditions.map(splitConjunctivePredicates(_).map(c => (columnOf(c), c)))
    val columns = AttributeSet(parts.flatten.flatMap(_._1)).toSeq
    val masks = columns.map { column =>
      val mine = parts.map(_.collect { case (Some(a), c) if a.exprId == column.exprId => c })
      val ofColumn = Mask(mine.map(_.reduceOption(And).getOrElse(Literal.TrueLiteral)))
      BindReferences.bindReference(ofColumn, AttributeSeq.fromNormalOutput(Seq(column)))
    }
    val rest = parts.zipWithIndex.flatMap { case (p, i) =>
      p.collect { case (None, c) => c }.reduceOption(And).map((i, _))
    }
    Split(columns, new StringConditions(masks.toArray), rest)
  }

  /** The column of strings that a condition is about, if it is about nothing else and cannot fail: it is also evaluated
    * for events that another condition would have kept from it.
    */
  private def columnOf(condition: Expression): Option[Attribute] = condition.references.toSeq match {
    case Seq(a) if a.dataType == StringType && !condition.exists(mayFail) => Some(a)
    case _                                                                => None
  }

  private def mayFail(e: Expression): Boolean = e match {
    case _: Attribute | _: Literal | _: And | _: Or | _: Not | _: IsNull | _: IsNotNull                  => false
    case _: EqualTo | _: EqualNullSafe | _: In | _: InSet | _: StartsWith | _: EndsWith | _: Contains    => false
    case _: LessThan | _: LessThanOrEqual | _: GreaterThan | _: GreaterThanOrEqual | _: Upper | _: Lower => false
    case _                                                                                               => true
  }
}
