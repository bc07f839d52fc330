package sparkcer.engine.explain

import sparkcer.engine.automaton.Cea

/** An automaton as a drawing: Graphviz DOT, or Mermaid. Transitions between the same two states share an arrow. */
object Diagram {

  def dot(a: Cea): String = {
    val states = (0 until a.states).map(q => s"  q$q [shape=${if (a.finals(q)) "doublecircle" else "circle"}];")
    val arrows = grouped(a).map { case ((from, to), texts) =>
      s"""  q$from -> q$to [label="${texts.map(escape(_, "\\\"")).mkString("\\n")}"];"""
    }
    (Vector("digraph cea {", "  rankdir=LR;", "  start [shape=point];", "  start -> q0;") ++ states ++ arrows :+ "}")
      .mkString("\n")
  }

  def mermaid(a: Cea): String = {
    val states = (0 until a.states).map(q => if (a.finals(q)) s"  q$q(((q$q)))" else s"  q$q((q$q))")
    val arrows = grouped(a).map { case ((from, to), texts) =>
      s"""  q$from -->|"${texts.map(escape(_, "#quot;")).mkString("<br>")}"| q$to"""
    }
    (Vector("flowchart LR") ++ states ++ arrows).mkString("\n")
  }

  private def grouped(a: Cea): Vector[((Int, Int), Vector[String])] =
    a.transitions.groupBy(t => (t.from, t.to)).toVector.sortBy(_._1).map { case (ends, ts) =>
      (ends, ts.map(text(a, _)).toVector)
    }

  /** `SELL[price > 20] / x`: what the event must be, and which variables it goes to. */
  def text(a: Cea, t: Cea.Transition): String = {
    val conditions = (Vector(t.condition).filter(_ != Cea.Always) ++ t.also.toVector.sorted).map(a.conditions(_).show)
    val uses = t.uses.map(c => (if (c.holds) "" else "not ") + a.comparisons(c.comparison).show)
    val asked = (conditions ++ uses).mkString(" and ")
    val condition = if (asked.isEmpty) "any" else asked
    if (t.label == 0) condition else s"$condition / ${a.labels(t.label).toVector.sorted.mkString(", ")}"
  }

  private def escape(text: String, quote: String): String =
    text.replace("\\", "\\\\").replace("\"", quote).replace("\n", " ")
}
