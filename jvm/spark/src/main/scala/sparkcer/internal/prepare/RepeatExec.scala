package sparkcer.internal.prepare

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}

/** Repeats each event for the slices after its own that read it. The row stays the same, except for the slice number.
  */
case class RepeatExec(slices: Slices, child: SparkPlan) extends UnaryExecNode {
  override def nodeName: String = "CerRepeat"
  override def output: Seq[Attribute] = child.output

  override protected def doExecute(): RDD[InternalRow] = {
    val (place, cut) = (child.output.indexWhere(_.name == "slice"), slices)
    child.execute().mapPartitions { rows =>
      new Iterator[InternalRow] {
        private var row: UnsafeRow = _
        private var number = 0L
        private var last = -1L

        def hasNext: Boolean = row != null && number <= last || rows.hasNext

        def next(): InternalRow = {
          if (row != null && number <= last) row.setLong(place, number)
          else {
            row = rows.next().asInstanceOf[UnsafeRow]
            number = row.getLong(place)
            last = cut.last(row.getLong(0))
          }
          number += 1
          row
        }
      }
    }
  }

  override protected def withNewChildInternal(c: SparkPlan): RepeatExec = copy(child = c)
}
