package sparkcer.views.translate

import java.util.Locale

/** Finds names that are not taken yet. A name that was found is taken from then on. */
final private[views] class FreshNames(taken: Iterable[String]) {
  private val used = scala.collection.mutable.Set.from(taken.map(_.toLowerCase(Locale.ROOT)))

  def fresh(wish: String): String = {
    val name = Iterator.iterate(wish)(_ + "_").find(n => !used(n.toLowerCase(Locale.ROOT))).get
    used += name.toLowerCase(Locale.ROOT)
    name
  }
}
