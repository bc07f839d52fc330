package sparkcer.views.catalog

import sparkcer.internal.bind.Durations
import sparkcer.views.statement.{PartRange, Statement}

/** Describes the catalog to the user: as text, and as a graph of which view is computed from which sources. */
private[views] object Overview {

  def text(loaded: LoadedCatalog): String = {
    val catalog = loaded.catalog
    val all =
      if (catalog.tables.isEmpty) Vector("There are no tables and no views yet.") else tables(catalog) ++ views(catalog)
    (damage(loaded) ++ all).mkString("\n\n")
  }

  private def damage(loaded: LoadedCatalog): Option[String] =
    if (loaded.bad.isEmpty) None
    else {
      val shown =
        if (loaded.isBroken)
          s"This is version ${loaded.catalog.version}, and there were versions up to ${loaded.top}. repair() continues from here."
        else "Nothing is lost."
      Some(s"These files of the catalog are lost or damaged: ${loaded.bad.mkString(", ")}. $shown")
    }

  private def lost(t: Table): Option[String] = {
    val parts = t.parts.filter(_.lost > 0)
    if (parts.isEmpty) None
    else Some(s"  lost: ${parts.map(_.lost).sum} rows of ${ranges(parts.map(_.index))}, with their files")
  }

  private def incomplete(t: Table): Option[String] = {
    val parts = t.parts.filter(_.without.nonEmpty)
    if (parts.isEmpty) None else Some(s"  incomplete: ${ranges(parts.map(_.index))}; ${LostRows.words(parts)}")
  }

  /** A late row changes all later parts of a view that continues its own sums. */
  private def continues(d: Statement): Option[String] =
    d.update.references
      .find(r => r.to(d.name))
      .map(r => s"  late rows: can change all later parts, because UPDATE reads ${r.text}; each is computed again")

  private def tables(c: Catalog): Vector[String] = c.tables.filterNot(_.isView).map { t =>
    val lines = Vector(
      Some(s"Table ${t.name}: parts of ${Durations.words(t.length)} by ${t.time.get}"),
      Some(s"  parts: ${extent(t)}"),
      t.open.headOption.map(p =>
        s"  open: ${span(t, p.index, t.open.last.index)}, ${rows(t.open)}; a stream still writes them, and views do not see them"
      ),
      lost(t),
      if (t.aside.isEmpty) None
      else Some(s"  kept aside: ${rows(t.aside)} for dropped parts or too far ahead or behind")
    )
    lines.flatten.mkString("\n")
  }

  private def views(c: Catalog): Vector[String] =
    Dependencies.ordered(c.tables.flatMap(_.definition)).map { d =>
      val t = c(d.name)
      val stale = t.parts.filter(_.isStale)
      val coming = Dependencies.dirty(c).filter(_.table == t.name).map(_.index) -- stale.map(_.index)
      val frozen = t.parts.filter(_.frozen)
      val lines = Vector(
        Some(s"View ${t.name}: parts of ${Durations.words(t.length)} from ${edges(d).map(_._2).mkString(", ")}"),
        Some(s"  parts: ${extent(t)}"),
        Some(s"  next: ${next(c, t)}"),
        continues(d),
        lost(t),
        incomplete(t),
        if (t.failed.isEmpty) None
        else Some("  failed: " + t.failed.map(f => s"${at(t, f.index)}: ${f.error}").mkString("; ")),
        if (stale.isEmpty) None
        else
          Some("  stale: " + stale.map(p => s"${p.index} because ${p.because.mkString(" and ")}").mkString("; ")),
        if (coming.isEmpty) None
        else Some(s"  stale if these change: ${ranges(coming.toVector.sorted)}"),
        if (frozen.isEmpty) None
        else
          Some(
            s"  frozen: ${ranges(frozen.map(_.index))}; a source changed, and other parts that they need were dropped"
          )
      )
      (lines.flatten :+ indented(d.text)).mkString("\n")
    }

  private def indented(statement: String) = statement.linesIterator.map("    " + _).mkString("\n")

  /** The part that is computed next, and the source parts that it waits for. */
  private def next(c: Catalog, t: Table): String = t.next match {
    case None =>
      val waiting = t.definition.get.initialize.references.map(r => c(r.table)).filter(_.begin.isEmpty)
      s"unknown until there are parts of ${waiting.map(_.name).distinct.mkString(", ")}"
    case Some(index) =>
      val clause = if (t.updates.forall(index < _)) "INITIALIZE" else "UPDATE"
      val inputs = Dependencies.inputs(t, index)
      val missing = inputs.flatMap { case (name, range) => MissingParts(c(name), range).map(_.of(c(name).name)) }
      val dirty = Dependencies.dirty(c)
      val stale = inputs.flatMap { case (name, range) =>
        val old = c(name).between(range).map(_.index).filter(n => dirty(PartName(c(name).name, n)))
        if (old.isEmpty) None else Some(s"${c(name).name}[${ranges(old)}] to be recomputed")
      }
      val state = if (missing.isEmpty && stale.isEmpty) "ready" else s"waits for ${(missing ++ stale).mkString(", ")}"
      s"${at(t, index)} by $clause, $state"
  }

  private def extent(t: Table): String = (t.first, t.newest) match {
    case (Some(a), Some(b)) => s"${span(t, a, b)}, ${rows(t.parts)}"
    case _                  => "none yet"
  }

  private def span(t: Table, a: Long, b: Long) = if (a == b) at(t, a) else s"${at(t, a)} to ${at(t, b)}"
  private def at(t: Table, index: Long) = s"$index (${PartTime.words(index, t.length)})"
  private def rows(parts: Vector[Part]) = { val n = parts.map(_.rows).sum; if (n == 1) "1 row" else s"$n rows" }

  private def ranges(numbers: Vector[Long]): String = numbers
    .foldLeft(Vector.empty[PartRange]) { (found, n) =>
      found.lastOption match {
        case Some(r) if r.last + 1 == n => found.init :+ PartRange(r.first, n)
        case _                          => found :+ PartRange(n, n)
      }
    }
    .map(r => if (r.first == r.last) s"${r.first}" else s"${r.first}..${r.last}")
    .mkString(", ")

  def mermaid(c: Catalog): String = {
    val nodes = c.tables.map { t =>
      val label = s"${t.name}<br/>${Durations.words(t.length)}"
      if (t.isView) s"""  ${t.name}("$label")""" else s"""  ${t.name}[("$label")]"""
    }
    val arrows =
      for (t <- c.tables; d <- t.definition.toVector; (from, text) <- edges(d))
        yield s"""  ${c(from).name} -->|"${subscripts(text)}"| ${t.name}"""
    ("flowchart LR" +: (nodes ++ arrows)).mkString("\n")
  }

  def dot(c: Catalog): String = {
    val nodes = c.tables.map { t =>
      s"""  "${t.name}" [shape=${if (t.isView) "box, style=rounded" else "cylinder"}, label="${t.name}\\n${Durations
          .words(t.length)}"];"""
    }
    val arrows =
      for (t <- c.tables; d <- t.definition.toVector; (from, text) <- edges(d))
        yield s"""  "${c(from).name}" -> "${t.name}" [label="${subscripts(text)}"];"""
    ("digraph views {" +: "  rankdir=LR;" +: (nodes ++ arrows) :+ "}").mkString("\n")
  }

  private def subscripts(reference: String) = reference.substring(reference.indexOf('[')).filterNot(_.isWhitespace)

  /** The references of UPDATE, and those of INITIALIZE to other sources. */
  private def edges(d: Statement): Vector[(String, String)] = {
    val update = d.update.references
    val only = d.initialize.references.filterNot(r => update.exists(_.to(r.table)))
    (update ++ only).map(r => r.table -> r.text).distinct
  }
}
