package sparkcer.internal.prepare

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Mask => _, _}
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.execution.{CodegenSupport, ColumnarToRowExec, SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.types._

case class PrepareExec(
    masks: Seq[Mask],
    droppable: Boolean,
    time: Expression,
    key: Option[Pack],
    clock: Option[Expression],
    order: Option[Expression],
    payload: Expression,
    tally: Option[Expression],
    slices: Option[Slices],
    output: Seq[Attribute],
    child: SparkPlan
) extends UnaryExecNode
    with CodegenSupport {

  override def nodeName: String = "CerPrepare"
  override def producedAttributes: AttributeSet = outputSet

  override lazy val metrics: Map[String, SQLMetric] = Map(
    PrepareExec.Events -> SQLMetrics.createMetric(sparkContext, "events"),
    PrepareExec.NullTimes -> SQLMetrics.createMetric(sparkContext, "events without a time"),
    PrepareExec.NullKeys -> SQLMetrics.createMetric(sparkContext, "events with a NULL key"),
    PrepareExec.Dropped -> SQLMetrics.createMetric(sparkContext, "events dropped before the shuffle")
  )

  @transient private lazy val split = masks.map(StringConditions.split)

  /** The columnar input, if conditions on strings can be evaluated on its dictionaries. */
  @transient private lazy val columns: Option[ColumnarToRowExec] =
    watermark.fold(child)(_.child) match {
      case c: ColumnarToRowExec if split.exists(_.columns.nonEmpty) => Some(c)
      case _                                                        => None
    }

  @transient private lazy val watermark: Option[WatermarkExec] = child match {
    case w: WatermarkExec => Some(w)
    case _                => None
  }

  override def inputRDDs(): Seq[RDD[InternalRow]] = columns match {
    case Some(c) => Seq(c.child.executeColumnar().asInstanceOf[RDD[InternalRow]]) // as Spark's own operator has it
    case None    => child.asInstanceOf[CodegenSupport].inputRDDs()
  }

  /** With columnar input, the loop over rows is in this operator; otherwise it is in the child. */
  override protected def canCheckLimitNotReached: Boolean = columns.nonEmpty

  /** Counts in fields of the generated class, and adds them to the metrics at the end of the input. */
  override protected def doProduce(ctx: CodegenContext): String = {
    counters = PrepareExec.All.map(m => m -> ctx.addMutableState(CodeGenerator.JAVA_LONG, m)).toMap
    val input = columns.fold(child.asInstanceOf[CodegenSupport].produce(ctx, this))(fromColumns(ctx, _))
    val report = counters.map { case (m, field) => s"${metricTerm(ctx, m)}.add($field); $field = 0L;" }
    s"$input\n${report.mkString("\n")}"
  }

  @transient private var counters = Map.empty[String, String]

  /** Each column is read where it is first needed: those of the payload only for events that are kept. */
  override def usedInputs: AttributeSet = AttributeSet.empty

  private def keyColumns = key.fold(Seq.empty[Expression])(_.columns)

  /** What is computed only for events that are kept, in the order of [[EventLayout]]. */
  private def kept: Seq[Expression] = (clock ++ order ++ key).toSeq ++ Seq(payload) ++ tally

  private def bound[E <: Expression](e: E): E =
    BindReferences.bindReference(e, AttributeSeq.fromNormalOutput(child.output))

  override def doConsume(ctx: CodegenContext, input: Seq[ExprCode], row: ExprCode): String = {
    def read(es: Seq[Expression]) =
      (evaluateRequiredVariables(child.output, input, AttributeSet.fromAttributeSets(es.map(_.references))), input)
    val (readTested, _) = read(Seq(time) ++ keyColumns ++ masks)
    ctx.currentVars = input
    val rest = body(ctx, read, masks.map(bound(_).genCode(ctx)))
    s"$readTested\n$rest"
  }

  private def fromColumns(ctx: CodegenContext, c: ColumnarToRowExec): String = {
    val loop = new ColumnLoop(ctx, c.output, c.longMetric("numOutputRows"), c.longMetric("numInputBatches"))
    val (words, onBatch) = masks.zip(split).map { case (m, s) => byDictionary(ctx, loop, m, s) }.unzip
    val see = watermark.fold("") { w =>
      val (read, values) = loop.read(Seq(w.eventTime))
      s"$read\n${w.see(ctx, values)}"
    }
    val stop = if (parent.needStopCheck) "if (shouldStop()) return;" else ""
    loop.code(limitNotReachedCond, onBatch.mkString("\n"), s"$see\n${body(ctx, loop.read, words)}\n$stop")
  }

  /** The code that computes a mask with the help of dictionaries, and the code that runs once for each columnar batch.
    * If a column has no dictionary in a batch, the whole mask is evaluated for each row.
    */
  private def byDictionary(
      ctx: CodegenContext,
      loop: ColumnLoop,
      mask: Mask,
      split: StringConditions.Split
  ): (ExprCode, String) = {
    def test(e: Expression)(use: ExprCode => String): String = {
      val (read, values) = loop.read(Seq(e))
      ctx.currentVars = values
      val code = bound(e).genCode(ctx)
      s"$read\n${code.code}\n${use(code)}"
    }
    val word = JavaCode.variable(ctx.freshName("mask"), LongType)
    val left = ctx.addMutableState("long[]", "cerLeft", forceInline = true)
    val vectors = split.columns.map(a => loop.vectors(child.output.indexWhere(_.exprId == a.exprId)))
    val conditions = ctx.addReferenceObj("cerStrings", split.conditions)
    val onBatch =
      if (vectors.isEmpty) "" else s"$left = $conditions.of(${loop.array(vectors)}, ${loop.batch}.numRows());"
    val rest = split.rest.map { case (i, condition) =>
      s"if (($word & ${1L << i}L) != 0L) { ${test(
          condition
        )(c => s"if (${c.isNull} || !${c.value}) $word &= ${~(1L << i)}L;")} }"
    }
    val otherwise = test(mask)(c => s"$word = ${c.value};")
    val code = code"""
      long $word;
      if ($left != null) {
        $word = $left[${loop.row}];
        ${rest.mkString("\n")}
      } else {
        $otherwise
      }"""
    (ExprCode(code, FalseLiteral, word), onBatch)
  }

  /** The code for one event.
    *
    * @param read
    *   reads the columns of expressions, if they are not read yet: the code, and the variables they are then in
    */
  private def body(
      ctx: CodegenContext,
      read: Seq[Expression] => (String, Seq[ExprCode]),
      words: Seq[ExprCode]
  ): String = {
    def generate(es: Seq[Expression]): (String, Seq[ExprCode]) = {
      val (code, values) = read(es)
      ctx.currentVars = values
      (code, es.map(bound(_).genCode(ctx)))
    }
    val (readTime, times) = generate(Seq(time))
    val at = times.head
    val (readKeys, keys) = generate(keyColumns)
    val (readKept, values) = generate(kept)
    val arrival = ctx.addMutableState(CodeGenerator.JAVA_LONG, "cerArrival")
    ctx.addPartitionInitializationStatement(s"$arrival = ((long) partitionIndex) << ${PrepareExec.RowBits};")
    val number = ctx.freshName("number")
    val slice = ctx.freshName("slice")
    def long(name: String) = ExprCode(FalseLiteral, JavaCode.variable(name, LongType))
    val outputs = Seq(at.copy(code = EmptyBlock), long(number)) ++ words.map(_.copy(code = EmptyBlock)) ++
      slices.map(_ => long(slice)) ++ values.map(_.copy(code = EmptyBlock))
    val findSlice = slices.fold("") { s =>
      s"final long $slice = ${ctx.addReferenceObj("slices", s)}.of(${at.value});"
    }
    def metric(name: String) = s"${counters(name)}++;"
    val noKey = if (keys.isEmpty) "false" else keys.map(_.isNull.toString).mkString(" || ")
    val idle = if (droppable) words.map(w => s"${w.value} == 0L").mkString(" && ") else "false"
    s"""
       |${metric(PrepareExec.Events)}
       |final long $number = $arrival++;
       |$readTime
       |${at.code}
       |if (${at.isNull}) {
       |  ${metric(PrepareExec.NullTimes)}
       |} else {
       |  $readKeys
       |  ${keys.map(_.code.toString).mkString("\n")}
       |  if ($noKey) {
       |    ${metric(PrepareExec.NullKeys)}
       |  } else {
       |    ${words.map(_.code.toString).mkString("\n")}
       |    if ($idle) {
       |      ${metric(PrepareExec.Dropped)}
       |    } else {
       |      $readKept
       |      ${values.map(_.code.toString).mkString("\n")}
       |      $findSlice
       |      ${consume(ctx, outputs)}
       |    }
       |  }
       |}""".stripMargin
  }

  /** Used if the stage has no generated code, because of an expression or of its size. */
  override protected def doExecute(): RDD[InternalRow] = {
    val all = longMetric(PrepareExec.Events)
    val nullTimes = longMetric(PrepareExec.NullTimes)
    val nullKeys = longMetric(PrepareExec.NullKeys)
    val dropped = longMetric(PrepareExec.Dropped)
    child.execute().mapPartitionsWithIndex { (partition, rows) =>
      val tests = UnsafeProjection.create(Seq(time) ++ keyColumns ++ masks, child.output)
      val keep = UnsafeProjection.create(kept, child.output)
      val (keys, words) = (keyColumns.length, masks.length)
      val keptTypes = kept.map(_.dataType)
      val result = UnsafeProjection.create(output.map(_.dataType).toArray)
      var arrival = partition.toLong << PrepareExec.RowBits
      rows.flatMap { row =>
        all.add(1)
        val number = arrival
        arrival += 1
        val test = tests(row)
        if (test.isNullAt(0)) { nullTimes.add(1); Iterator.empty }
        else if ((1 to keys).exists(test.isNullAt)) { nullKeys.add(1); Iterator.empty }
        else {
          val mask = Array.tabulate(words)(i => test.getLong(1 + keys + i))
          if (droppable && mask.forall(_ == 0)) { dropped.add(1); Iterator.empty }
          else {
            val t = test.getLong(0)
            val values = keep(row)
            val rest = keptTypes.zipWithIndex.map { case (dt, i) => values.get(i, dt) }
            val all = Seq[Any](t, number) ++ mask ++ slices.map(_.of(t)) ++ rest
            Iterator.single(result(new GenericInternalRow(all.toArray)))
          }
        }
      }
    }
  }

  override protected def withNewChildInternal(c: SparkPlan): PrepareExec = copy(child = c)
}

object PrepareExec {
  val Events = "events"
  val NullTimes = "nullTimes"
  val NullKeys = "nullKeys"
  val Dropped = "dropped"
  private val All = Seq(Events, NullTimes, NullKeys, Dropped)

  /** Arrival numbers: the input partition in the upper bits, the row in the lower ones. */
  private[sparkcer] val RowBits = 40
}
