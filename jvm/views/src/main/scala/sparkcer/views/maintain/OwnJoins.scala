package sparkcer.views.maintain

import org.apache.spark.sql.catalyst.expressions.{And, Expression}
import org.apache.spark.sql.catalyst.plans.{Cross, LeftExistence}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Filter, Join, LogicalPlan, Project, SubqueryAlias}

/** A view that is joined with its own earlier part, each row with each row: the number of its rows multiplies with each
  * part, and soon no update ends. The listings of the ViewDF paper leave out the condition.
  */
private[views] object OwnJoins {

  /** Is there such a join in the analyzed plan of an UPDATE? `CROSS JOIN` is meant as it is written, and with a side of
    * one row there is nothing to multiply.
    */
  def multiply(plan: LogicalPlan, view: String): Boolean = {
    def reads(p: LogicalPlan) = p.exists {
      case a: SubqueryAlias => a.alias.equalsIgnoreCase(view)
      case _                => false
    }
    def in(p: LogicalPlan, conditions: Seq[Expression]): Boolean = p match {
      case Filter(condition, child)                       => in(child, conditions ++ conjuncts(condition))
      case a: SubqueryAlias                               => in(a.child, conditions)
      case Join(left, right, kind, None, _) if free(kind) =>
        val related = conditions.exists { c =>
          c.references.intersect(left.outputSet).nonEmpty && c.references.intersect(right.outputSet).nonEmpty
        }
        val isProduct = !related && !isOneRow(left) && !isOneRow(right)
        isProduct && (reads(left) || reads(right)) || in(left, conditions) || in(right, conditions)
      case j: Join => in(j.left, conditions) || in(j.right, conditions)
      case other   => other.children.exists(in(_, Nil))
    }
    in(plan, Nil)
  }

  private def free(kind: org.apache.spark.sql.catalyst.plans.JoinType) = kind match {
    case Cross            => false
    case LeftExistence(_) => false
    case _                => true
  }

  private def isOneRow(p: LogicalPlan): Boolean = p match {
    case Aggregate(Nil, _, _, _) => true
    case Project(_, child)       => isOneRow(child)
    case SubqueryAlias(_, child) => isOneRow(child)
    case _                       => false
  }

  private def conjuncts(e: Expression): Seq[Expression] = e match {
    case And(a, b) => conjuncts(a) ++ conjuncts(b)
    case other     => Seq(other)
  }
}
