package sparkcer.internal.prepare

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, Expression}
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.vectorized.{ColumnarBatch, ColumnVector}

/** Generated code that loops over columnar batches and their rows. Spark's own loop turns batches into rows, and gives
  * no access to the column vectors.
  *
  * @param rows
  *   the metric that counts rows
  * @param batches
  *   the metric that counts batches
  */
final class ColumnLoop(ctx: CodegenContext, output: Seq[Attribute], rows: SQLMetric, batches: SQLMetric) {
  private val vectorType = classOf[ColumnVector].getName
  private val batchType = classOf[ColumnarBatch].getName
  private val input = ctx.addMutableState("scala.collection.Iterator", "input", v => s"$v = inputs[0];")
  private val at = ctx.addMutableState(CodeGenerator.JAVA_INT, "cerRow")

  /** The current batch, its column vectors, and the number of the current row. */
  val batch: String = ctx.addMutableState(batchType, "cerBatch", forceInline = true)
  val vectors: Seq[String] = output.map(_ => ctx.addMutableState(vectorType, "cerColumn", forceInline = true))
  val row: String = ctx.freshName("row")

  def array(some: Seq[String]): String = s"new $vectorType[] {${some.mkString(", ")}}"

  /** The code that reads the columns that expressions need into local variables, and these variables.
    */
  def read(expressions: Seq[Expression]): (String, Seq[ExprCode]) = {
    val needed = AttributeSet.fromAttributeSets(expressions.map(_.references))
    val all = output.zip(vectors).map { case (a, v) => (needed.contains(a), value(a, v)) }
    val code = all.collect { case (true, v) => v.code.toString }.mkString("\n")
    (code, all.map { case (_, v) => v.copy(code = EmptyBlock) })
  }

  private def value(a: Attribute, vector: String): ExprCode = {
    val javaType = CodeGenerator.javaType(a.dataType)
    val value = JavaCode.variable(ctx.freshName("value"), a.dataType)
    val get = CodeGenerator.getValueFromVector(vector, a.dataType, row)
    if (a.nullable) {
      val isNull = JavaCode.isNullVariable(ctx.freshName("isNull"))
      val other = CodeGenerator.defaultValue(a.dataType)
      ExprCode(
        code"final boolean $isNull = $vector.isNullAt($row); final $javaType $value = $isNull ? $other : ($get);",
        isNull,
        value
      )
    } else ExprCode(code"final $javaType $value = $get;", FalseLiteral, value)
  }

  /** @param onBatch
    *   done for each batch
    * @param body
    *   done for each row, once it is counted as read
    */
  def code(more: String, onBatch: String, body: String): String = {
    val name = ctx.freshName("nextBatch")
    val (countRows, countBatches) = (ctx.addReferenceObj("rows", rows), ctx.addReferenceObj("batches", batches))
    val next = ctx.addNewFunction(
      name,
      s"""
         |private void $name() throws java.io.IOException {
         |  $batch = null;
         |  if ($input.hasNext()) {
         |    $batch = ($batchType) $input.next();
         |    $countBatches.add(1);
         |    $countRows.add($batch.numRows());
         |    $at = 0;
         |    ${vectors.zipWithIndex.map { case (v, i) => s"$v = $batch.column($i);" }.mkString("\n")}
         |    $onBatch
         |  }
         |}""".stripMargin
    )
    s"""
       |if ($batch == null) $next();
       |while ($more $batch != null) {
       |  final int ${row}s = $batch.numRows();
       |  while ($at < ${row}s) {
       |    final int $row = $at++;
       |    $body
       |  }
       |  $next();
       |}""".stripMargin
  }
}
