package sparkcer.internal.prepare

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{And, EqualTo, Expression, Literal, PredicateHelper}
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.types.{DataType, LongType, StringType}

/** Up to 64 conditions as bits: bit i says whether condition i is TRUE. All conditions of a query are this one
  * expression, in the generated code of the stage that reads the events.
  */
case class Mask(conditions: Seq[Expression]) extends Expression {
  override def children: Seq[Expression] = conditions
  override def dataType: DataType = LongType
  override def nullable: Boolean = false

  override def eval(input: InternalRow): Any = {
    var mask = 0L
    conditions.indices.foreach { i =>
      val passes = conditions(i).eval(input)
      if (passes != null && passes.asInstanceOf[Boolean]) mask |= 1L << i
    }
    mask
  }

  /** Conditions that begin alike, as those of one event type do, share the beginning. Where all beginnings compare one
    * expression with different constants, at most one of them is TRUE, and the others are not evaluated.
    */
  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val mask = ctx.addMutableState(CodeGenerator.JAVA_LONG, "cerMask")
    val groups = Mask.grouped(conditions)
    val exclusive = groups.length > 1 && Mask.areExclusive(groups.map(_._1))
    def ifMet(condition: Expression, body: String, other: String) = {
      val c = condition.genCode(ctx)
      s"""
         |${c.code}
         |if (!${c.isNull} && ${c.value}) {
         |  $body
         |} $other""".stripMargin
    }
    def bits(rests: Seq[(Option[Expression], Int)]) = rests.map { case (rest, i) =>
      val set = s"$mask |= ${1L << i}L;"
      rest.fold(set)(ifMet(_, set, ""))
    }
    val all =
      if (exclusive && conditions.length <= Mask.FewConditions)
        groups.foldRight("") { case ((first, rests), other) =>
          ifMet(first, bits(rests).mkString("\n"), if (other.isEmpty) "" else s"else {\n$other\n}")
        }
      else {
        val statements = groups.flatMap { case (first, rests) =>
          rests.grouped(Mask.FewConditions).map(some => ifMet(first, bits(some).mkString("\n"), ""))
        }
        ctx.splitExpressionsWithCurrentInputs(statements, "cerMask")
      }
    ev.copy(
      code = code"""
        $mask = 0L;
        $all
        final long ${ev.value} = $mask;""",
      isNull = FalseLiteral
    )
  }

  override protected def withNewChildrenInternal(c: IndexedSeq[Expression]): Mask = copy(conditions = c)
}

private[sparkcer] object Mask extends PredicateHelper {

  /** More conditions are split over several methods, because Java compiles small methods better. */
  private val FewConditions = 16

  /** First conjuncts, each with the rest of the conditions that begin with it, and their numbers. */
  private def grouped(conditions: Seq[Expression]): Seq[(Expression, Seq[(Option[Expression], Int)])] = {
    val split = conditions.zipWithIndex.map { case (g, i) =>
      val all = splitConjunctivePredicates(g)
      (all.head, (all.tail.reduceOption(And), i))
    }
    val firsts = split.map(_._1.canonicalized).distinct
    firsts.map { f =>
      val mine = split.filter(_._1.canonicalized == f)
      (mine.head._1, mine.map(_._2))
    }
  }

  private def areExclusive(conditions: Seq[Expression]): Boolean = {
    val compared = conditions.collect { case EqualTo(x, Literal(v, StringType)) if v != null => (x.canonicalized, v) }
    compared.length == conditions.length && compared.map(_._1).distinct.length == 1 &&
    compared.map(_._2).distinct.length == compared.length
  }
}
