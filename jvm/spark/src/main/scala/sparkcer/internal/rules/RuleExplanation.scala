package sparkcer.internal.rules

import org.apache.spark.sql.cerbridge.CerException

import sparkcer.engine.evaluate.Program
import sparkcer.internal.bind.ParameterValues

/** What a set of rules will do, in words: what its rules share, and what some of them cost the others. */
object RuleExplanation {

  def of(rules: Vector[Rule]): String = {
    val wrong = new WrongRules
    val right = wrong.of(rules)(_.id)(r => r.id -> Program(r.query, ParameterValues.quantities(r.query, r.params)))
    if (wrong.nonEmpty) throw new CerException("CER_RULES.WRONG", wrong.parameters(rules.length): _*)
    apply(right)
  }

  /** @param rules
    *   with their names
    */
  def apply(rules: Vector[(String, Program)]): String = {
    val conditions = rules.flatMap { case (id, p) => p.conditions.map(_ -> id) }.groupMap(_._1)(_._2)
    val shared = conditions.toVector
      .map { case (c, ids) => (c.show, ids.distinct.sorted) }
      .filter(_._2.length > 1)
      .sortBy { case (text, ids) => (-ids.length, text) }
    val groups =
      rules.groupMap { case (_, p) => p.query.partitionBy.map(_.value) }(_._1).toVector.sortBy(_._1.mkString(","))
    val readAll = rules.filterNot(_._2.droppable)
    val negated = rules.flatMap { case (id, p) => p.conditions.filter(_.negated).map(c => s"${c.show}: $id") }.distinct
    val parts = Vector(
      "Rules" -> Vector(
        s"${count(rules.length, "rule")}, ${count(conditions.size, "different condition")}, ${shared.length} of them in several rules"
      ),
      "Shuffles, one for each list of PARTITION BY columns" -> groups.map { case (keys, ids) =>
        val by = if (keys.isEmpty) "without PARTITION BY, on one task" else keys.mkString("by ", ", ", "")
        s"$by: ${list(ids)}"
      },
      "Conditions in several rules, evaluated once" -> shortened(shared.map { case (text, ids) =>
        s"$text: ${list(ids)}"
      }),
      "Conditions that are evaluated for every event, because they name no type" -> shortened(negated),
      "Rules that read every event of their keys, so that none is dropped in their shuffle" -> readAll.map(_._1)
    )
    parts
      .collect { case (title, lines) if lines.nonEmpty => (title +: lines.map("  " + _)).mkString("\n") }
      .mkString("\n\n")
  }

  /** Names of rules, of many the first. */
  private[rules] def list(ids: Vector[String]): String =
    if (ids.length <= MaxNames) ids.sorted.mkString(", ")
    else s"${ids.sorted.take(MaxNames).mkString(", ")} and ${ids.length - MaxNames} more"

  private def shortened(lines: Vector[String]): Vector[String] =
    if (lines.length <= MaxLines) lines else lines.take(MaxLines) :+ s"… and ${lines.length - MaxLines} more"

  private def count(n: Int, one: String): String = s"$n $one${if (n == 1) "" else "s"}"

  private val MaxNames = 10
  private val MaxLines = 30
}
