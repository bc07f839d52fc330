package sparkcer.engine.evaluate

import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest

import sparkcer.engine.automaton.{Cea, Check, Construction, Guard, Registers, Strict, Subsets, Threats}
import sparkcer.engine.ceql.{Link, Term}

/** What the numbers in saved state mean. State holds the numbers of automaton states, of guards (the bits of an event's
  * mask), of labels and of registers; two programs with one digest number all of them alike, so that each reads what
  * the other has saved.
  *
  * It is written to checkpoints: nothing here may depend on texts for people, nor on the order or the hash of a set.
  */
private[evaluate] object Digest {

  /** 32 hexadecimal digits. */
  def apply(program: Program): String =
    MessageDigest.getInstance("SHA-256").digest(text(program).getBytes(UTF_8)).take(16).map(b => f"$b%02x").mkString

  private[evaluate] def text(program: Program): String = {
    val cea = program.cea
    val live = Registers(cea).live
    val lines = Vector(
      s"runs ${runs(program.construction)} ${program.strategy}",
      s"distinct ${program.distinct} selects ${program.selects} counts ${program.countsRuns}"
    ) ++
      cea.guards.map(guard) ++
      cea.labels.map(l => s"label ${texts(l)}") ++
      cea.links.map(link) ++
      (0 until cea.states).map(q => s"state $q final ${cea.finals(q)} live ${numbers(live(q).toSeq)}") ++
      cea.transitions.map(transition).sorted
    lines.mkString("\n")
  }

  private def runs(c: Construction): String = c match {
    case _: Subsets => "subsets"
    case _: Strict  => "strict"
    case _: Threats => "threats"
  }

  private def guard(g: Guard): String =
    s"guard ${texts(g.stream)} ${quoted(g.eventType)} holds ${texts(g.holds.map(_.sql))} fails ${texts(g.fails.map(_.sql))} negated ${g.negated}"

  private def transition(t: Cea.Transition): String = {
    def check(c: Check) = s"${c.link}/${c.roles}/${c.holds}"
    s"from ${t.from} guards ${numbers(t.guard +: t.also.toVector.sorted)} label ${t.label} to ${t.to} " +
      s"checks ${t.checks.map(check).mkString("[", ",", "]")} resets ${numbers(t.resets.toVector.sorted)}"
  }

  private def link(l: Link): String = l match {
    case Link.Compare(left, op, right)     => s"compare ${term(left)} ${op.sign} ${term(right)}"
    case Link.Same(terms)                  => s"same ${terms.map(term).mkString(" ")}"
    case Link.Consecutive(before, op, now) => s"consecutive ${term(before)} ${op.sign} ${term(now)}"
    case e: Link.Expression                =>
      s"expression ${quoted(e.sql)} ${texts(e.own)} ${e.others.map(quoted).mkString("[", ",", "]")} ${e.previous}"
  }

  private def term(t: Term): String = s"${quoted(t.variable)}.${quoted(t.sql)}"

  private def numbers(list: Seq[Int]): String = list.mkString("[", ",", "]")

  private def texts(set: Iterable[String]): String = set.toVector.sorted.map(quoted).mkString("{", ",", "}")

  /** With its length, so that no two lists of texts look alike. */
  private def quoted(text: String): String = s"${text.length}'$text'"
}
