package sparkcer.internal.prepare

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, GenericInternalRow, Generator, UnsafeProjection}
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types._

import sparkcer.internal.stream.BucketOf

/** What [[PrepareExec]] and [[TallyExec]] do, as an expression that Spark's own operator evaluates: an event gives one
  * row, or none if it is dropped.
  *
  * At the end of an input partition there is one more row for each bucket, its [[EventGenerator.Marker]]. When a bucket
  * has those of all input partitions, it has all events of the micro-batch.
  *
  * @param tested
  *   the time, the key columns and the masks
  * @param kept
  *   what is computed only for events that are kept, in the order of their columns
  * @param keys
  *   the number of key columns
  * @param words
  *   the number of masks
  * @param elementSchema
  *   the columns of [[EventLayout]]
  */
case class EventGenerator(
    tested: Seq[Expression],
    kept: Seq[Expression],
    keys: Int,
    words: Int,
    droppable: Boolean,
    elementSchema: StructType
) extends Expression
    with Generator
    with CodegenFallback {
  override def children: Seq[Expression] = tested ++ kept

  @transient private lazy val test = UnsafeProjection.create(tested)
  @transient private lazy val keep = UnsafeProjection.create(kept)
  @transient private lazy val keptTypes = kept.map(_.dataType).toArray

  /** In the order of [[Tally.Numbers]]. */
  @transient private lazy val numbers = new Array[Long](Tally.Numbers.length)
  @transient private lazy val first = TaskContext.getPartitionId().toLong << PrepareExec.RowBits

  private def count(name: String): Unit = numbers(Tally.Numbers.indexOf(name)) += 1

  override def eval(row: InternalRow): IterableOnce[InternalRow] = {
    val number = first + numbers(0)
    count(PrepareExec.Events)
    val values = test(row)
    if (values.isNullAt(0)) { count(PrepareExec.NullTimes); None }
    else if ((1 to keys).exists(values.isNullAt)) { count(PrepareExec.NullKeys); None }
    else if (droppable && (keys + 1 to keys + words).forall(values.getLong(_) == 0)) {
      count(PrepareExec.Dropped)
      None
    } else {
      val fields = new Array[Any](elementSchema.length)
      fields(0) = values.getLong(0)
      fields(1) = number
      (0 until words).foreach(i => fields(2 + i) = values.getLong(1 + keys + i))
      val rest = keep(row)
      keptTypes.indices.foreach(i => fields(2 + words + i) = rest.get(i, keptTypes(i)))
      Some(new GenericInternalRow(fields))
    }
  }

  override def terminate(): IterableOnce[InternalRow] = {
    val partitions = TaskContext.get().numPartitions()
    BucketOf.current().iterator.map { bucket =>
      val counted = if (bucket == EventGenerator.CountsGoTo) numbers else new Array[Long](numbers.length)
      Tally.row(columns, EventGenerator.Marker(counted, bucket, partitions).toArray, bucket)
    }
  }

  @transient private lazy val columns = elementSchema.map(f => (f.name, f.dataType, f.nullable))

  override protected def withNewChildrenInternal(c: IndexedSeq[Expression]): EventGenerator =
    copy(tested = c.take(tested.length), kept = c.drop(tested.length))
}

object EventGenerator {
  def apply(p: Prepare): EventGenerator = EventGenerator(
    (p.time +: p.key.fold(Seq.empty[Expression])(_.columns)) ++ p.masks,
    (p.clock ++ p.order ++ p.key).toSeq ++ Seq(p.payload) ++ p.tally,
    p.key.fold(0)(_.columns.length),
    p.masks.length,
    p.droppable,
    StructType(p.output.map(a => StructField(a.name, a.dataType, a.nullable)))
  )

  /** The bucket whose markers have the counts. */
  private val CountsGoTo = sparkcer.internal.stream.Processor.First

  /** The end of an input partition in a bucket, as the numbers of a [[Tally]] and two more.
    *
    * @param counted
    *   the numbers of [[Tally.Numbers]]
    * @param partitions
    *   how many input partitions there are
    */
  final case class Marker(counted: Array[Long], bucket: Int, partitions: Int) {
    def toArray: Array[Long] = counted ++ Array(bucket.toLong, partitions.toLong)
  }

  object Marker {
    def of(tally: Array[Long]): Marker = {
      val n = Tally.Numbers.length
      Marker(tally.take(n), tally(n).toInt, tally(n + 1).toInt)
    }
  }
}
