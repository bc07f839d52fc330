package sparkcer.engine.evaluate

import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest

import sparkcer.engine.automaton.{Cea, ComparisonUse, Construction, EventCondition, Registers, StrategyRules, Unless}
import sparkcer.engine.ceql.{Comparison, Printer, Term}

/** A digest of what the numbers in saved state mean. Saved state has numbers of automaton states, of conditions (the
  * bits of an event's mask), of labels and of registers. Two programs with the same digest number all of them in the
  * same way, so each can read what the other has saved.
  *
  * The digest is written to checkpoints. So it must not depend on text that is shown to users, nor on the order or the
  * hash of a set, and the words in it (`guard`, `checks`) stay as they were in the first version.
  */
private[sparkcer] object Digest {

  def apply(program: Program): String = hash(text(program))

  /** 32 hexadecimal digits. */
  def hash(text: String): String =
    MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8)).take(16).map(b => f"$b%02x").mkString

  private[engine] def text(program: Program): String = {
    val cea = program.cea
    val live = Registers(cea).live
    val lines = Vector(
      s"runs ${runs(program.construction)} ${program.strategy}",
      s"distinct ${program.distinct} selects ${program.selects} counts ${program.countsRuns}"
    ) ++
      cea.conditions.map(condition) ++
      cea.labels.map(l => s"label ${texts(l)}") ++
      cea.comparisons.map(comparison) ++
      (0 until cea.states).map(q => s"state $q final ${cea.finals(q)} live ${numbers(live(q).toSeq)}") ++
      cea.transitions.map(transition).sorted ++
      cea.endings.map(e => s"after ${quoted(Printer.print(e.length))}${unless(e.absent)}") ++
      (if (cea.endsApart) cea.endingOf.toVector.sorted.map { case (q, e) => s"state $q ending $e" }
       else Vector.empty) ++
      cea.absentBefore.map(b => s"before ${quoted(Printer.print(b.length))} ${numbers(b.conditions.toVector.sorted)}")
    lines.mkString("\n")
  }

  private def runs(c: Construction): String = c.rules match {
    case StrategyRules.Subsets    => "subsets"
    case StrategyRules.Strict     => "strict"
    case _: StrategyRules.Threats => "threats"
  }

  private def condition(g: EventCondition): String =
    s"guard ${texts(g.stream)} ${quoted(g.eventType)} holds ${texts(g.holds.map(_.sql))} fails ${texts(g.fails.map(_.sql))} negated ${g.negated}"

  private def use(c: ComparisonUse) = s"${c.comparison}/${c.roles}/${c.holds}"

  private def unless(all: Set[Unless[Int]]): String =
    all.map(u => s" unless ${u.condition} ${u.uses.map(use).mkString("[", ",", "]")}").toVector.sorted.mkString

  private def transition(t: Cea.Transition): String =
    s"from ${t.from} guards ${numbers(t.condition +: t.also.toVector.sorted)} label ${t.label} to ${t.to} " +
      s"checks ${t.uses.map(use).mkString("[", ",", "]")} resets ${numbers(t.resets.toVector.sorted)}" +
      unless(t.unless)

  private def comparison(l: Comparison): String = l match {
    case Comparison.Pair(left, op, right)        => s"compare ${term(left)} ${op.sign} ${term(right)}"
    case s: Comparison.Span                      => s"span ${s.number} ${quoted(Printer.print(s.window))}"
    case Comparison.Same(terms)                  => s"same ${terms.map(term).mkString(" ")}"
    case Comparison.Consecutive(before, op, now) => s"consecutive ${term(before)} ${op.sign} ${term(now)}"
    case e: Comparison.Expression                =>
      s"expression ${quoted(e.sql)} ${texts(e.own)} ${e.others.map(quoted).mkString("[", ",", "]")} ${e.previous}"
  }

  private def term(t: Term): String = s"${quoted(t.variable)}.${quoted(t.sql)}"

  private def numbers(list: Seq[Int]): String = list.mkString("[", ",", "]")

  private def texts(set: Iterable[String]): String = set.toVector.sorted.map(quoted).mkString("{", ",", "}")

  /** With its length, so that no two lists of texts look the same. */
  private def quoted(text: String): String = s"${text.length}'$text'"
}
