package sparkcer.views.maintain

import org.apache.spark.sql.catalyst.expressions.{And, AttributeSet, Expression}
import org.apache.spark.sql.catalyst.plans.{Cross, JoinType, LeftExistence}
import org.apache.spark.sql.catalyst.plans.logical._

/** A view that is joined with its own earlier part, each row with each row: the number of its rows multiplies with each
  * part, and soon no update ends. The listings of the ViewDF paper leave out the condition.
  */
private[views] object OwnJoins {

  /** Is there such a join in the analyzed plan of an UPDATE? `CROSS JOIN` and `ON true` are meant as they are written,
    * and with a side of one row there is nothing to multiply. A condition can relate two sides through a third one.
    */
  def multiply(plan: LogicalPlan, view: String): Boolean = {
    val common = plan.collect { case w: WithCTE => w.cteDefs.map(d => d.id -> (d: LogicalPlan)) }.flatten.toMap
    def reads(p: LogicalPlan): Boolean = p.exists {
      case a: SubqueryAlias  => a.alias.equalsIgnoreCase(view)
      case r: CTERelationRef => common.get(r.cteId).exists(reads)
      case _                 => false
    }
    def isOneRow(p: LogicalPlan): Boolean = p match {
      case Aggregate(Nil, _, _, _) => true
      case Project(_, child)       => isOneRow(child)
      case SubqueryAlias(_, child) => isOneRow(child)
      case d: CTERelationDef       => isOneRow(d.child)
      case r: CTERelationRef       => common.get(r.cteId).exists(isOneRow)
      case _                       => false
    }

    /** A tree of joins: what it joins, and by which conditions. */
    def tree(p: LogicalPlan): (Vector[LogicalPlan], Vector[Expression]) = p match {
      case Filter(condition, child) => { val (of, by) = tree(child); (of, by ++ conjuncts(condition)) }
      case SubqueryAlias(_, child @ (_: Join | _: Filter)) => tree(child)
      case j: Join                                         =>
        val ((a, byA), (b, byB)) = (tree(j.left), tree(j.right))
        (a ++ b, byA ++ byB ++ j.condition.toVector.flatMap(conjuncts))
      case leaf => (Vector(leaf), Vector.empty)
    }

    /** Do conditions lead from one side to the other? */
    def related(left: LogicalPlan, right: LogicalPlan, of: Vector[LogicalPlan], by: Vector[Expression]): Boolean = {
      def meets(p: LogicalPlan, c: AttributeSet) = c.intersect(p.outputSet).nonEmpty
      val conditions = by.map(_.references)
      def grown(found: Set[LogicalPlan]): Set[LogicalPlan] = {
        val touched = conditions.filter(c => found.exists(meets(_, c)))
        val more = found ++ of.filter(p => touched.exists(meets(p, _)))
        if (more.size == found.size) found else grown(more)
      }
      val (from, to) = (tree(left)._1, tree(right)._1)
      grown(from.toSet).exists(to.contains)
    }
    def inTree(p: LogicalPlan, of: Vector[LogicalPlan], by: Vector[Expression]): Boolean = p match {
      case Filter(_, child)                                => inTree(child, of, by)
      case SubqueryAlias(_, child @ (_: Join | _: Filter)) => inTree(child, of, by)
      case j: Join                                         =>
        val isProduct = j.condition.isEmpty && free(j.joinType) && !isOneRow(j.left) && !isOneRow(j.right) &&
          (reads(j.left) || reads(j.right)) && !related(j.left, j.right, of, by)
        isProduct || inTree(j.left, of, by) || inTree(j.right, of, by)
      case leaf => leaf.children.exists(in)
    }
    def in(p: LogicalPlan): Boolean = { val (of, by) = tree(p); inTree(p, of, by) }
    in(plan)
  }

  private def free(kind: JoinType) = kind match {
    case Cross            => false
    case LeftExistence(_) => false
    case _                => true
  }

  private def conjuncts(e: Expression): Seq[Expression] = e match {
    case And(a, b) => conjuncts(a) ++ conjuncts(b)
    case other     => Seq(other)
  }
}
