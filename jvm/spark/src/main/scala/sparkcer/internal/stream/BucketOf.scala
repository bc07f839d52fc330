package sparkcer.internal.stream

import org.apache.spark.sql.catalyst.expressions.{Expression, Murmur3HashFunction, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DataType, IntegerType}

/** The bucket of a key, by its hash. There are as many buckets as shuffle partitions. The number is read where the
  * query runs: there Spark has restored the number of the checkpoint, on which the bucket of a key depends.
  */
case class BucketOf(child: Expression) extends UnaryExpression {
  override def dataType: DataType = IntegerType

  @transient private lazy val ids = BucketOf.current()

  override protected def nullSafeEval(hash: Any): Any = ids(Math.floorMod(hash.asInstanceOf[Int], ids.length))

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val of = BucketOf.getClass.getName.stripSuffix("$")
    val ids = ctx.addMutableState("int[]", "cerBuckets", v => s"$v = $of.current();")
    nullSafeCodeGen(ctx, ev, hash => s"${ev.value} = $ids[Math.floorMod($hash, $ids.length)];")
  }

  override protected def withNewChildInternal(c: Expression): BucketOf = copy(child = c)
}

object BucketOf {

  /** Newer Spark versions keep the number of the checkpoint here, apart from the one of the session. If a version kept
    * it elsewhere, the number in the log of the checkpoint would not fit ([[LogMeaning]]), and the query would fail.
    */
  private val OfCheckpoint = "spark.sql.streaming.internal.stateStore.partitions"

  def current(): Array[Int] = {
    val conf = SQLConf.get
    ids(conf.getConfString(OfCheckpoint, conf.numShufflePartitions.toString).toInt).toArray
  }

  /** A number for each bucket, chosen so that Spark, which places groups by a hash, puts one bucket into each of as
    * many partitions.
    */
  def ids(n: Int): Seq[Int] = {
    val ids = Array.fill(n)(-1)
    var left = n
    var id = 0
    while (left > 0) {
      val at = Math.floorMod(Murmur3HashFunction.hash(id, IntegerType, 42L).toInt, n)
      if (ids(at) < 0) { ids(at) = id; left -= 1 }
      id += 1
    }
    ids.toSeq
  }
}
