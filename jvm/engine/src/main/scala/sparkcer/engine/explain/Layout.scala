package sparkcer.engine.explain

import sparkcer.engine.automaton.Cea
import sparkcer.engine.explain.Arrows.Arrow
import sparkcer.engine.explain.Layout._

/** Where the states, arrows and labels of an automaton stand in a picture.
  *
  * States stand in columns, and there is a gap between two columns. From left to right, a picture is a column, a
  * channel, a gap, a channel, a column and so on. In a column and in a gap everything has a row of its own: a state
  * with its loop and the loop's label, or an arrow that goes through from left to right, with its label above. Only in
  * the channels do arrows bend and go up or down. Arrows that lead back run below everything else, with their labels at
  * gaps. So no label lies on an arrow, on a state or on another label.
  */
final private[explain] class Layout(a: Cea) {
  private val arrows = new Arrows(a)
  import arrows.{backward, column, forward, loops, main}

  private val columns = column.max + 1

  /** An arrow has its label in one gap: the middle one. */
  private def labelled(t: Arrow): Int = (column(t.from) + column(t.to) - 1) / 2

  // Layers are columns and gaps by turns. An arrow has a node in each layer between its ends.
  private def layer(q: Int): Int = 2 * column(q)
  private val steps: Vector[(Arrow, Int)] = forward.flatMap(t => (layer(t.from) + 1 until layer(t.to)).map((t, _)))
  private val numbers: Map[(Arrow, Int), Int] = steps.zipWithIndex.map { case (s, i) => s -> (a.states + i) }.toMap
  private def node(t: Arrow, l: Int): Int =
    if (l == layer(t.from)) t.from else if (l == layer(t.to)) t.to else numbers((t, l))

  private val links: Vector[(Int, Int)] =
    forward.flatMap(t => (layer(t.from) until layer(t.to)).map(l => (node(t, l), node(t, l + 1))))

  private val layers = {
    val states = (0 until a.states).map { q =>
      Layers.Node(layer(q), loops.get(q).fold(Radius)(t => Radius + LoopHeight + t.label.height), Radius, main(q))
    }
    val passing = steps.map { case (t, l) =>
      val up = if (l == 2 * labelled(t) + 1) t.label.height + Above else 4.0
      Layers.Node(l, up, 4, main(t.from) && main(t.to) && layer(t.to) == layer(t.from) + 2)
    }
    new Layers(states.toVector ++ passing, links)
  }
  private def y(t: Arrow, l: Int): Double = layers.y(node(t, l))

  /** An arrow that leads back leaves and enters states at the bottom, or at the side if something stands below. */
  private def isLowest(q: Int): Boolean = layers.order(layer(q)).last == q
  private val (exits, entries) = (
    backward.filterNot(t => isLowest(t.from)).groupBy(t => column(t.from)),
    backward.filterNot(t => isLowest(t.to)).groupBy(t => column(t.to))
  )

  private val columnWidth: Vector[Double] = Vector.tabulate(columns) { c =>
    (2 * Radius +: loops.values.toVector.filter(t => column(t.from) == c).map(_.label.width)).max
  }
  private val gapWidth: Vector[Double] = Vector.tabulate(columns - 1) { g =>
    (20.0 +: (forward ++ backward).filter(labelled(_) == g).map(_.label.width)).max
  }

  /** The width of the channel on the right of a layer: the larger, the steeper the arrows in it would be. */
  private def channel(l: Int): Double = {
    val rise = links.collect { case (p, q) if layerOf(p) == l => math.abs(layers.y(p) - layers.y(q)) }.maxOption
    val turns = if (l % 2 == 0) exits.get(l / 2) else entries.get((l + 1) / 2)
    val bend = rise.filter(_ > 0).fold(16.0)(r => math.max(16, math.min(56, r * 0.4)) + (if (l % 2 == 0) 0 else Stub))
    bend + turns.fold(0.0)(_.length * Lane)
  }
  private def layerOf(n: Int): Int = if (n < a.states) layer(n) else steps(n - a.states)._2

  /** The left and the right side of each layer. */
  private val sides: Vector[(Double, Double)] = (0 to 2 * columns - 2)
    .scanLeft((0.0, 0.0)) { case ((_, before), l) =>
      val start = if (l == 0) Start else before + channel(l - 1)
      (start, start + (if (l % 2 == 0) columnWidth(l / 2) else gapWidth(l / 2)))
    }
    .tail
    .toVector

  val states: Vector[Point] = Vector.tabulate(a.states)(q => Point(middle(sides(layer(q))), layers.y(q)))

  /** How far down the arrows run that lead back. Those over different columns share a track, and short ones are above.
    */
  private val track: Map[Arrow, Double] = {
    val short = backward.sortBy(t => (column(t.from) - column(t.to), t.from, t.to))
    val tracks = short.foldLeft(Vector.empty[Vector[Arrow]]) { (done, t) =>
      done.indexWhere(_.forall(o => column(o.from) < column(t.to) || column(o.to) > column(t.from))) match {
        case -1 => done :+ Vector(t)
        case i  => done.updated(i, done(i) :+ t)
      }
    }
    val floor = layers.order.flatten.map(n => layers.y(n) + (if (n < a.states) Radius else 4)).max + 4
    val below = tracks.scanLeft(floor)((top, ts) => top + Above + math.max(10, ts.map(_.label.height).max) + 6)
    tracks.zip(below.tail).flatMap { case (ts, bottom) => ts.map(_ -> (bottom - 6)) }.toMap
  }

  val drawn: Vector[Drawn] = arrows.all.map { t =>
    if (t.from == t.to) loop(t) else if (column(t.from) < column(t.to)) ahead(t) else back(t)
  }

  /** The arrow that says where a run starts. */
  val entrance: Path =
    Path(Point(states(0).x - Radius - Start, states(0).y)).line(Point(states(0).x - Radius, states(0).y))

  private def loop(t: Arrow): Drawn = {
    val c = states(t.from)
    val (foot, top) = (c.y - 0.9 * Radius, c.y - Radius - 26)
    val path = Path(Point(c.x - 8, foot)).curve(Point(c.x - 24, top), Point(c.x + 24, top), Point(c.x + 8, foot))
    Drawn(t, path, Point(c.x - t.label.width / 2, c.y - Radius - LoopHeight - t.label.height))
  }

  private def ahead(t: Arrow): Drawn = {
    val (from, to) = (states(t.from), states(t.to))
    val between = (layer(t.from) + 1 until layer(t.to)).foldLeft(
      Path(Point(from.x + Radius, from.y)).line(Point(sides(layer(t.from))._2, from.y))
    )((path, l) => path.bend(Point(sides(l)._1, y(t, l))).line(Point(sides(l)._2, y(t, l))))
    val path = between.bend(Point(sides(layer(t.to))._1 - Stub, to.y)).line(Point(to.x - Radius, to.y))
    val label = above(t, y(t, 2 * labelled(t) + 1))
    // Where nothing else is, it may reach below the labels of loops, which make a column wide.
    val alone = (layer(t.from) to layer(t.to)).forall(layers.order(_).length == 1)
    val low = t.label.height + Above < Radius + LoopHeight
    Drawn(t, path, if (alone && low) label.copy(x = (from.x + to.x - t.label.width) / 2) else label)
  }

  private def back(t: Arrow): Drawn = {
    val (from, to, low) = (states(t.from), states(t.to), track(t))
    val start =
      if (isLowest(t.from)) {
        val dx = if (backward.exists(_.to == t.from)) -7.0 else 0.0
        Path(foot(from, dx))
          .line(Point(from.x + dx, low - Corner))
          .turn(Point(from.x + dx, low), Point(from.x + dx - Corner, low))
      } else {
        val x = sides(layer(t.from))._2 + 8 + Lane * exits(column(t.from)).indexOf(t)
        Path(Point(from.x + Radius, from.y))
          .line(Point(x - Corner, from.y))
          .turn(Point(x, from.y), Point(x, from.y + Corner))
          .line(Point(x, low - Corner))
          .turn(Point(x, low), Point(x - Corner, low))
      }
    val path =
      if (isLowest(t.to)) {
        val x = to.x + (if (backward.exists(_.from == t.to)) 7 else 0)
        start.line(Point(x + Corner, low)).turn(Point(x, low), Point(x, low - Corner)).line(foot(to, x - to.x))
      } else {
        val x = sides(layer(t.to))._1 - 14 - Lane * entries(column(t.to)).indexOf(t)
        start
          .line(Point(x + Corner, low))
          .turn(Point(x, low), Point(x, low - Corner))
          .line(Point(x, to.y + Corner))
          .turn(Point(x, to.y), Point(x + Corner, to.y))
          .line(Point(to.x - Radius, to.y))
      }
    Drawn(t, path, above(t, low))
  }

  /** The top left corner of a label above an arrow, in the middle of its gap. */
  private def above(t: Arrow, line: Double): Point =
    Point(middle(sides(2 * labelled(t) + 1)) - t.label.width / 2, line - Above - t.label.height)

  private def foot(centre: Point, dx: Double): Point =
    Point(centre.x + dx, centre.y + math.sqrt(Radius * Radius - dx * dx))
}

private[explain] object Layout {
  val Radius = 18.0

  /** The room between a label and its arrow. */
  private val Above = 5.0
  private val LoopHeight = 26.0
  private val Start = 24.0
  private val Corner = 6.0
  private val Lane = 7.0

  /** An arrow is straight before its head. */
  private val Stub = 8.0

  /** @param label
    *   the top left corner
    */
  final case class Drawn(arrow: Arrow, path: Path, label: Point)

  private def middle(sides: (Double, Double)): Double = (sides._1 + sides._2) / 2
}
