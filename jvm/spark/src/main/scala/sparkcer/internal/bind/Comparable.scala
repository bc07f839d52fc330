package sparkcer.internal.bind

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.cerbridge.Columns
import org.apache.spark.sql.types._

/** Values in a form whose bytes are equal exactly when SQL's `=` is true: floating-point zeros and NaNs are normalized,
  * and strings with a collation become its sort keys, which also have its order.
  */
private[sparkcer] object Comparable {
  def apply(e: Expression): Expression = Columns.normalizedFloats(keyed(e))

  private def keyed(e: Expression): Expression = e.dataType match {
    case t if !hasCollation(t) => e
    case _: StringType         => CollationKey(e)
    case ArrayType(t, nulls)   =>
      val element = NamedLambdaVariable("element", t, nulls)
      ArrayTransform(e, LambdaFunction(keyed(element), Seq(element)))
    case s: StructType =>
      val fields = s.fields.toSeq.zipWithIndex.flatMap { case (f, i) =>
        Seq(Literal(f.name), keyed(GetStructField(e, i, Some(f.name))))
      }
      val struct = CreateNamedStruct(fields)
      if (e.nullable) If(IsNull(e), Literal(null, struct.dataType), struct) else struct
    case _ => e
  }

  private def hasCollation(t: DataType): Boolean = t match {
    case s: StringType   => !Columns.isBinary(s)
    case ArrayType(e, _) => hasCollation(e)
    case s: StructType   => s.exists(f => hasCollation(f.dataType))
    case _               => false
  }
}
