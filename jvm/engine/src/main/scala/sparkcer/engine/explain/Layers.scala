package sparkcer.engine.explain

import sparkcer.engine.explain.Layers._

/** Places the nodes of a layered graph: the order in each layer, such that few lines cross, and heights, such that lines
  * are nearly straight and nodes of a layer do not touch.
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
    val order = Array.tabulate(nodes.map(_.layer).max + 1)(l => layers.getOrElse(l, Vector.empty).sortBy(!nodes(_).level))
    val place = new Array[Double](nodes.length)
    def number(layer: Vector[Int]): Unit = layer.indices.foreach(i => place(layer(i)) = (i + 0.5) / layer.length)
    order.foreach(number)
    def arrange(l: Int, beside: Map[Int, Vector[Int]]): Unit = {
      order(l) = order(l).sortBy(n => if (nodes(n).level) -1 else mean(beside.getOrElse(n, Vector(n)).map(place(_))))
      number(order(l))
    }
    (0 until Rounds).foreach { _ =>
      order.indices.foreach(arrange(_, left))
      order.indices.reverse.foreach(arrange(_, right))
    }
    order.toVector
  }

  /** How far down the line through each node is. */
  val y: Vector[Double] = {
    val y = new Array[Double](nodes.length)
    def settle(l: Int, wish: Int => Double): Unit = order(l).zip(closest(order(l), wish)).foreach { case (n, at) => y(n) = at }
    def near(beside: Int => Vector[Int])(n: Int): Double = {
      val others = beside(n)
      if (nodes(n).level) 0 else if (others.isEmpty) y(n) else mean(others.map(y(_)))
    }
    order.indices.foreach(settle(_, _ => 0))
    (0 until Rounds).foreach { _ =>
      order.indices.foreach(settle(_, near(left.getOrElse(_, Vector.empty))))
      order.indices.reverse.foreach(settle(_, near(right.getOrElse(_, Vector.empty))))
      order.indices.foreach(settle(_, near(n => left.getOrElse(n, Vector.empty) ++ right.getOrElse(n, Vector.empty))))
    }
    y.toVector.map(math.round(_).toDouble)
  }

  /** The heights of the nodes of a layer that are, in sum of squares, the closest to what they wish and leave room for
    * each: after the least distances are subtracted, an isotonic regression.
    */
  private def closest(layer: Vector[Int], wish: Int => Double): Vector[Double] = {
    val least = layer.zip(layer.drop(1)).map { case (a, b) => math.ceil(nodes(a).down + nodes(b).up + Between) }
    val offset = least.scanLeft(0.0)(_ + _)
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
