package sparkcer.internal.rules

import org.apache.spark.sql.catalyst.expressions.{Attribute, BindReferences, Expression}
import org.apache.spark.sql.cerbridge.{Columns, Plans}
import org.apache.spark.sql.functions.{struct, to_variant_object}

import sparkcer.internal.bind.{Binding, Plan}

/** What is computed of a match row: the measures as one VARIANT, and HAVING. Both are bound to the columns of the row.
  */
final case class RuleOutput(measures: Option[Expression], having: Option[Expression]) {
  def isEmpty: Boolean = measures.isEmpty && having.isEmpty
}

object RuleOutput {
  private val Nothing = RuleOutput(None, None)

  def of(b: Binding, plan: Plan): RuleOutput =
    if (b.measures.bound.isEmpty && b.measures.condition.isEmpty) Nothing
    else {
      val row = Plans.empty(b.df, plan.schema.named)
      val columns = Plans.planOf(row).output
      def over(e: Expression) =
        Columns.column(e.transform { case a: Attribute => columns.find(_.name == a.name).get })
      val measures =
        if (b.measures.bound.isEmpty) None
        else Some(to_variant_object(struct(b.measures.bound.map { case (m, e) => over(e).as(m.name.value) }: _*)))
      val all = measures.toVector ++ b.measures.condition.map(over)
      val bound = Columns.evaluable(row, all.map(Columns.resolve(row, _))).map(BindReferences.bindReference(_, columns))
      RuleOutput(measures.map(_ => bound.head), b.measures.condition.map(_ => bound.last))
    }
}
