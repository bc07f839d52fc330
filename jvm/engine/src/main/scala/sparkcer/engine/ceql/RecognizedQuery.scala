package sparkcer.engine.ceql

/** The text of a query without what only its output depends on: measures, other names, FLAT and HAVING. It lists the
  * selected variables instead, so it finds the same matches. It is compared with checkpoints and is part of every
  * `match_id`, so for a query that has none of these it is the text as it is, and adding HAVING to a query does not
  * change it.
  */
object RecognizedQuery {

  def apply(text: String): String = {
    val (query, places) = Parser.withPlaces(text)
    val edits = places.having ++ places.flat ++ list(query, places, text)
    edits.toVector.sortBy(-_.start).foldLeft(text)((t, e) => t.substring(0, e.start) + e.by + t.substring(e.end))
  }

  /** Do two such texts, with what the call adds in lines of its own, find the same matches from the same state? They
    * may list the selected variables in another order, or other columns of them.
    */
  def agree(one: String, other: String): Boolean = one == other || {
    val (a, b) = (found(one), found(other))
    a.isDefined && a == b
  }

  /** The query without its list, the selected variables, and what the call adds. */
  private def found(asked: String): Option[(Query, Set[String], String)] = {
    val ends = asked.length +: Added.findAllMatchIn(asked).map(_.start).toVector.reverse
    ends.iterator
      .flatMap { end =>
        try {
          val q = Parser.parse(asked.substring(0, end))
          val list = if (q.select.list == SelectList.Count) SelectList.Count else SelectList.NoVariables
          Some((q.copy(select = q.select.copy(list = list))(""), SelectedVariables(q).toSet, asked.substring(end)))
        } catch { case _: CeqlException => None }
      }
      .nextOption()
  }

  private val Added = "\nwith ".r

  final private[ceql] case class Edit(start: Int, end: Int, by: String)

  /** An item of the list: where it starts, where the variable with its columns ends, and where its name ends. */
  final private[ceql] case class ItemPlace(start: Int, variableEnd: Int, end: Int)

  final private[ceql] case class Places(
      items: Vector[ItemPlace] = Vector.empty,
      flat: Option[Edit] = None,
      having: Option[Edit] = None
  )

  /** Takes items out of the list, and leaves what is between the others as it is written. */
  private def list(q: Query, places: Places, text: String): Option[Edit] = {
    val hidden = SelectedVariables.hidden(q)
    val items = q.select.items
    val kept = items.indices.toVector.filter { i =>
      items(i) match {
        case _: SelectList.Measure           => false
        case SelectList.Star                 => !items.take(i).contains(SelectList.Star)
        case SelectList.Item(variable, _, _) =>
          !items.take(i).exists { case SelectList.Item(`variable`, _, _) => true; case _ => false }
      }
    }
    val changed = hidden.nonEmpty || q.select.list.isInstanceOf[SelectList.Columns]
    if (!changed) None
    else {
      def part(i: Int) = text.substring(places.items(i).start, places.items(i).variableEnd)
      def between(i: Int) =
        if (i == kept.head) ""
        else if (kept.contains(i - 1)) text.substring(places.items(i - 1).end, places.items(i).start)
        else ", "
      val written = kept.map(i => between(i) + part(i)).mkString
      val selected = SelectedVariables(q)
      val parts =
        if (selected == SelectedVariables.listed(q) ++ hidden)
          (if (written.isEmpty) Vector.empty else Vector(written)) ++ hidden.map(Printer.variable)
        else {
          val listed = kept.map(i => items(i) -> part(i)).collect { case (SelectList.Item(x, _, _), t) => x.value -> t }
          selected.map(x => listed.toMap.getOrElse(x, Printer.variable(x)))
        }
      Some(Edit(places.items.head.start, places.items.last.end, if (parts.isEmpty) "NONE" else parts.mkString(", ")))
    }
  }
}
