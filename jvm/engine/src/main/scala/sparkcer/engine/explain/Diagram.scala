package sparkcer.engine.explain

import sparkcer.engine.automaton.{AbsentBefore, Cea, Unless}
import sparkcer.engine.ceql.Printer
import sparkcer.engine.evaluate.Program

/** An automaton as a Mermaid flowchart, and the texts at its arrows. Transitions between the same two states share an
  * arrow.
  */
object Diagram {

  /** A match that waits goes on to a timer of its own, with what must not come until then. */
  def mermaid(a: Cea): String = {
    val states = (0 until a.states).map(q => if (endsAtOnce(a, q)) s"  q$q(((q$q)))" else s"  q$q((q$q))")
    val arrows = grouped(a).map { case ((from, to), texts) =>
      s"""  q$from -->|"${texts.map(escape).mkString("<br>")}"| q$to"""
    }
    val timers = a.endings.zipWithIndex.flatMap { case (ending, i) =>
      val text = s"${forbidden(a, ending.absent)} for ${Printer.print(ending.length)}"
      s"""  d$i((("${escape(Printer.print(ending.length))} later")))""" +:
        statesOf(a, i).map(q => s"""  q$q -.->|"${escape(text)}"| d$i""")
    }
    (Vector("flowchart LR") ++ states ++ arrows ++ timers).mkString("\n")
  }

  private def endsAtOnce(a: Cea, state: Int): Boolean = a.finals(state) && !a.endingOf.contains(state)

  /** The states in which matches wait for an ending. */
  private def statesOf(a: Cea, ending: Int): Vector[Int] =
    a.endingOf.collect { case (q, `ending`) => q }.toVector.sorted

  /** The ends of each arrow, and its texts. */
  private[explain] def grouped(a: Cea): Vector[((Int, Int), Vector[String])] =
    a.transitions.groupBy(t => (t.from, t.to)).toVector.sortBy(_._1).map { case (ends, ts) =>
      (ends, ts.map(text(a, _)).toVector)
    }

  /** `SELL[price > 20] / x`: what the event must be, and which variables it goes to. */
  def text(a: Cea, t: Cea.Transition): String = {
    val condition = Some(asked(a, t)).filter(_.nonEmpty).getOrElse("any") +
      (if (t.unless.isEmpty) "" else s" but ${forbidden(a, t.unless)}")
    if (t.label == 0) condition else s"$condition / ${a.labels(t.label).toVector.sorted.mkString(", ")}"
  }

  /** What the event must be. Any event will do if it is empty. */
  private[explain] def asked(a: Cea, t: Cea.Transition): String = {
    val conditions = (Vector(t.condition).filter(_ != Cea.Always) ++ t.also.toVector.sorted).map(a.conditions(_).show)
    val uses = t.uses.map(c => (if (c.holds) "" else "not ") + a.comparisons(c.comparison).show)
    (conditions ++ uses).mkString(" and ")
  }

  /** `no B, no C with x.a = C.a`: what an event must not be. */
  private[explain] def forbidden(a: Cea, unless: Set[Unless[Int]]): String = unless.toVector
    .sortBy(_.condition)
    .map { u =>
      val compared = u.uses.map(c => a.comparisons(c.comparison).show)
      if (u.condition >= a.conditions.length) before(a, a.absentBefore(u.condition - a.conditions.length))
      else
        s"no ${a.conditions(u.condition).show}${if (compared.isEmpty) "" else compared.mkString(" with ", " and ", "")}"
    }
    .mkString(", ")

  /** `no B for 10 minutes before` */
  private def before(a: Cea, absent: AbsentBefore[Int]): String = {
    val events = absent.conditions.toVector.sorted.map(a.conditions(_).show)
    s"no ${events.mkString(" or ")} for ${Printer.print(absent.length)} before"
  }

  /** What must not come after a match, which the automaton does not show. */
  private[explain] def after(p: Program): Vector[String] = p.cea.endings.indices.toVector.map { i =>
    val ending = p.cea.endings(i)
    val states = statesOf(p.cea, i).map(q => s"q$q")
    val which = if (p.cea.endsApart) s"a match in ${states.mkString(" or ")}" else "a match"
    s"after $which: ${forbidden(p.cea, ending.absent)} for ${Printer.print(ending.length)}; then it ends"
  }

  private def escape(text: String): String =
    text.replace("\\", "\\\\").replace("\"", "#quot;").replace("\n", " ")
}
