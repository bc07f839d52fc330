package sparkcer.engine.explain

import scala.collection.mutable

import sparkcer.engine.automaton.Cea

/** The arrows of an automaton, and the column of each state in a picture. Transitions between the same two states share
  * an arrow.
  */
final private[explain] class Arrows(a: Cea) {
  import Arrows._

  val all: Vector[Arrow] = Diagram.grouped(a).map { case ((from, to), texts) =>
    new Arrow(from, to, texts.distinct)
  }

  /** The column of each state: the longest way from the start that does not go round a loop. */
  val column: Vector[Int] = {
    val Open = 1
    val Done = 2
    val seen = new Array[Int](a.states)
    val forward = Array.fill(a.states)(List.empty[Int])
    var order = List.empty[Int]
    val path = mutable.Stack((0, targets(0)))
    seen(0) = Open
    while (path.nonEmpty) {
      val (q, left) = path.top
      if (left.hasNext) {
        val to = left.next()
        if (seen(to) != Open) forward(q) = to :: forward(q) // else it leads back
        if (seen(to) == 0) { seen(to) = Open; path.push((to, targets(to))): Unit }
      } else {
        seen(q) = Done
        order = q :: order
        path.pop(): Unit
      }
    }
    val depth = new Array[Int](a.states)
    order.foreach(q => forward(q).foreach(to => depth(to) = math.max(depth(to), depth(q) + 1)))
    depth.toVector
  }

  private def targets(q: Int): Iterator[Int] = a.outgoing(q).iterator.map(_.to)

  val loops: Map[Int, Arrow] = all.filter(t => t.from == t.to).map(t => t.from -> t).toMap
  val forward: Vector[Arrow] = all.filter(t => column(t.from) < column(t.to))

  /** They always lead to a column further left, because their target is on the way to their source. */
  val backward: Vector[Arrow] = all.filter(t => column(t.from) > column(t.to))

  /** The longest way from the start, if other ways pass by states of it. Else it is empty, and no way is the main one.
    */
  val main: Set[Int] =
    if (forward.forall(t => column(t.to) == column(t.from) + 1)) Set.empty
    else {
      val last = (0 until a.states).filter(column(_) == column.max).minBy(q => (!a.finals(q), q))
      def before(q: Int): Option[Int] = forward.find(t => t.to == q && column(t.from) == column(q) - 1).map(_.from)
      Iterator.iterate(Option(last))(_.flatMap(before)).takeWhile(_.isDefined).flatten.toSet
    }
}

private[explain] object Arrows {
  final class Arrow(val from: Int, val to: Int, val texts: Vector[String]) {
    val label: Label = Label.of(texts)
  }
}
