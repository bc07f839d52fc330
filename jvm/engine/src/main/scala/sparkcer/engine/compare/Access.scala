package sparkcer.engine.compare

/** How an event finds the partial matches that a comparison lets it extend. */
sealed abstract class Access(val text: String) {
  private[compare] def cost: Int = Access.all.indexOf(this)
}

object Access {
  case object Always extends Access("always holds: its variable is bound to one event at the most, so PREV has none")
  case object Indexed extends Access("indexed: an event finds its partial matches by value")
  case object Ordered extends Access("indexed in order: an event finds its partial matches on one side of a value")
  case object PerValue
      extends Access("scanned per value: an event looks at the different values in the window that may go with it")
  case object PerWaiting extends Access("scanned: an event looks at every match that waits")
  case object PerRun extends Access("scanned per run: an event looks at every partial match that differs in its events")

  private val all = Vector(Always, Indexed, Ordered, PerValue, PerWaiting, PerRun)
}
