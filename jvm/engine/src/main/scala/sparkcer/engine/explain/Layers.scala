package sparkcer.engine.explain

import sparkcer.engine.explain.Layers._

/** Places the nodes of a layered graph: the order in each layer, such that few lines cross, and heights, such that
  * lines are nearly straight and nodes of a layer do not touch.
  *
  * @param links
  *   pairs of nodes in neighbouring layers, the left one first
  */
final private[explain] class Layers(nodes: Vector[Node], links: Vector[(Int, Int)]) {
  private val left: Map[Int, Vector[Int]] = links.groupMap(_._2)(_._1)
  private val right: Map[Int, Vector[Int]] = links.groupMap(_._1)(_._2)

  /** The nodes of each layer, from top to bottom. */
  val order: Vector[Vector[Int]] = {
    val layers = nodes.indices.toVector.groupBy(nodes(_).layer)
    val order =
      Array.tabulate(nodes.map(_.layer).max + 1)(l => layers.getOrElse(l, Vector.empty).sortBy(!nodes(_).level))
    val place = new Array[Double](nodes.length)
    def number(layer: Vector[Int]): Unit = layer.indices.foreach(i => place(layer(i)) = (i + 0.5) / layer.length)
    order.foreach(number)
    def arrange(l: Int, beside: Map[Int, Vector[Int]]): Unit = {
      order(l) = order(l).sortBy(n => if (nodes(n).level) -1.0 else mean(beside.getOrElse(n, Vector(n)).map(place(_))))
      number(order(l))
    }
    (0 until Rounds).foreach { _ =>
      order.indices.foreach(arrange(_, left))
      order.indices.reverse.foreach(arrange(_, right))
    }
    order.toVector
  }

  /** The nodes that should stand at one height: chains in which each node has one link to the next. */
  private val chain: Array[Int] = {
    val chain = nodes.indices.toArray
    links.sortBy { case (p, _) => nodes(p).layer }.foreach { case (p, q) =>
      if (!nodes(p).level && !nodes(q).level && right(p).length == 1 && left(q).length == 1) chain(q) = chain(p)
    }
    chain
  }
  private val chains: Vector[Vector[Int]] = nodes.indices.toVector.groupBy(chain(_)).toVector.sortBy(_._1).map(_._2)

  /** How far down the line through each node is. */
  val y: Vector[Double] = {
    val y = new Array[Double](nodes.length)
    def settle(l: Int, wish: Int => Double): Unit =
      order(l).zip(closest(order(l), wish)).foreach { case (n, at) => y(n) = at }
    def near(beside: Int => Vector[Int])(n: Int): Double = {
      val others = beside(n).map(o => (y(o), if (chain(o) == chain(n)) 20.0 else 1.0))
      if (nodes(n).level) 0
      else if (others.isEmpty) y(n)
      else others.map { case (at, weight) => at * weight }.sum / others.map(_._2).sum
    }
    order.indices.foreach(settle(_, _ => 0))
    (0 until Rounds).foreach { _ =>
      order.indices.foreach(settle(_, near(left.getOrElse(_, Vector.empty))))
      order.indices.reverse.foreach(settle(_, near(right.getOrElse(_, Vector.empty))))
      order.indices.foreach(settle(_, near(beside)))
    }
    centred(straight(y.toVector.map(math.round(_).toDouble)))
  }

  private def beside(n: Int): Vector[Int] = left.getOrElse(n, Vector.empty) ++ right.getOrElse(n, Vector.empty)

  /** Moves nodes down until each chain is at one height. Chains that change sides may have no such place. */
  private def straight(y: Vector[Double]): Vector[Double] = {
    def lowered(before: Vector[Double]): Vector[Double] = {
      val y = before.toArray
      chains.foreach { c =>
        val low = c.map(y(_)).max; c.foreach(y(_) = low)
      }
      order.foreach(layer => pairs(layer).foreach { case (p, q) => y(q) = math.max(y(q), y(p) + least(p, q)) })
      y.toVector
    }
    val tries = Iterator.iterate(y)(lowered).take(2 * Rounds).toVector
    if (tries.last == tries(tries.length - 2)) tries.last else y
  }

  /** A chain that has its layers for itself goes to the middle of what is beside it. */
  private def centred(y: Vector[Double]): Vector[Double] =
    chains.filter(_.forall(n => !nodes(n).level && order(nodes(n).layer).length == 1)).foldLeft(y) { (y, c) =>
      val others = c.flatMap(beside).filter(o => chain(o) != chain(c.head)).map(y(_))
      if (others.isEmpty) y else c.foldLeft(y)(_.updated(_, math.round((others.min + others.max) / 2).toDouble))
    }

  private def pairs(layer: Vector[Int]): Vector[(Int, Int)] = layer.zip(layer.drop(1))

  /** The least distance of two nodes that stand one above the other. */
  private def least(p: Int, q: Int): Double = math.ceil(nodes(p).down + nodes(q).up + Between)

  /** The heights of the nodes of a layer that are, in sum of squares, the closest to what they wish and leave room for
    * each: after the least distances are subtracted, an isotonic regression.
    */
  private def closest(layer: Vector[Int], wish: Int => Double): Vector[Double] = {
    val offset = pairs(layer).map { case (p, q) => least(p, q) }.scanLeft(0.0)(_ + _)
    val blocks = layer.indices.foldLeft(List.empty[Block]) { (done, i) =>
      val weight = if (nodes(layer(i)).level) Heavy else 1.0
      merged(Block((wish(layer(i)) - offset(i)) * weight, weight, 1) :: done)
    }
    blocks.reverse.flatMap(b => List.fill(b.length)(b.at)).toVector.zip(offset).map { case (at, o) => at + o }
  }

  private def merged(blocks: List[Block]): List[Block] = blocks match {
    case b :: a :: rest if a.at > b.at => merged(Block(a.sum + b.sum, a.weight + b.weight, a.length + b.length) :: rest)
    case _                             => blocks
  }
}

private[explain] object Layers {

  /** @param up
    *   the room that it needs above the line through it
    * @param down
    *   the room that it needs below
    * @param level
    *   does it stand on the main line, which is straight and above everything else?
    */
  final case class Node(layer: Int, up: Double, down: Double, level: Boolean)

  final private case class Block(sum: Double, weight: Double, length: Int) {
    def at: Double = sum / weight
  }

  private val Rounds = 8
  private val Between = 8
  private val Heavy = 1e9

  private def mean(numbers: Vector[Double]): Double = numbers.sum / numbers.length
}
