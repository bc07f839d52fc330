package sparkcer.engine.explain

import scala.collection.mutable

import sparkcer.engine.automaton.Cea

/** An automaton as an SVG picture that needs nothing else: no `dot`, no script, no font. States stand in columns by the
  * largest number of events they are away from the start; arrows go from left to right, loops lie above their state,
  * and what leads back or over other states bends below. It takes the colour of the text around it, so that it shows on
  * light and on dark.
  */
object Svg {
  private val Radius = 18
  private val Letter = 6.8
  private val LineHeight = 15
  private val Longest = 48

  def apply(a: Cea): String = new Svg(a).draw()

  final private case class Arrow(from: Int, to: Int, texts: Vector[String]) {
    val width: Double = texts.map(t => math.min(t.length, Longest)).max * Letter
    val height: Int = texts.length * LineHeight
  }
}

final private class Svg(a: Cea) {
  import Svg._

  private val arrows: Vector[Arrow] = a.transitions
    .groupBy(t => (t.from, t.to))
    .toVector
    .sortBy(_._1)
    .map { case ((from, to), ts) => Arrow(from, to, ts.map(Diagram.text(a, _)).toVector.distinct) }
  private val (loops, others) = arrows.partition(t => t.from == t.to)

  /** The column of each state: the longest way from the start that does not go round a loop. */
  private val column: Array[Int] = {
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
    depth
  }

  private def targets(q: Int): Iterator[Int] = a.outgoing(q).iterator.map(_.to)
  private val columns: Vector[Vector[Int]] =
    Vector.tabulate(column.max + 1)(c => (0 until a.states).filter(column(_) == c).toVector)

  private val x: Vector[Double] = columns.indices
    .scanLeft(30.0 + Radius) { (left, c) =>
      val labels =
        others.filter(t => column(t.from) <= c && column(t.to) > c).map(t => t.width / (column(t.to) - column(t.from)))
      val around = loops.filter(t => math.abs(column(t.from) - c) <= 1).map(_.width / 2)
      left + 2 * Radius + 40 + math.max(30, (labels ++ around).maxOption.getOrElse(0.0))
    }
    .toVector

  private val above = (0 +: loops.map(_.height)).max + (if (loops.isEmpty) 10 else 40)
  private val rowHeight = 2 * Radius + above + (LineHeight +: others.map(_.height)).max
  private val rows = columns.map(_.length).max

  private def isStraight(t: Arrow): Boolean = column(t.to) == column(t.from) + 1

  /** How far a bent arrow hangs down. */
  private def depthOf(t: Arrow): Double = 30.0 + 26 * math.abs(column(t.to) - column(t.from)) + t.height / 2

  /** Where the control points of a bent arrow lie, and the lowest point of the curve that they give. */
  private def bottom(t: Arrow): Double = math.max(centre(t.from)._2, centre(t.to)._2) + Radius + depthOf(t)
  private def lowest(t: Arrow): Double = 0.75 * bottom(t) + 0.125 * (centre(t.from)._2 + centre(t.to)._2 + 2 * Radius)

  private def centre(q: Int): (Double, Double) = {
    val own = columns(column(q))
    val top = above + Radius + (rows - own.length) * rowHeight / 2.0
    (x(column(q)), top + own.indexOf(q) * rowHeight)
  }

  def draw(): String = {
    val last = columns.last.map(centre(_)._1).max
    val side = loops.map(t => centre(t.from)._1 + t.width / 2).maxOption.getOrElse(0.0)
    val width = math.max(last + Radius + 14, side + 8).ceil.toInt
    val height =
      ((0 until a.states).map(centre(_)._2 + Radius) ++ others.filterNot(isStraight).map(lowest)).max.ceil.toInt + 12
    val style = "font-family=\"ui-monospace, monospace\" font-size=\"11\" fill=\"none\" stroke=\"currentColor\""
    (Vector(
      s"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 $width $height" width="$width" height="$height" role="img" $style>""",
      """<defs><marker id="cer-arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0 8 4 0 8z" fill="currentColor" stroke="none"/></marker></defs>"""
    ) ++ arrows.map(arrow) ++ (0 until a.states).map(state) :+ "</svg>").mkString("\n")
  }

  private def state(q: Int): String = {
    val (cx, cy) = centre(q)
    val ring = if (a.finals(q)) s"""<circle cx="$cx" cy="$cy" r="${Radius - 4}"/>""" else ""
    s"""<g><circle cx="$cx" cy="$cy" r="$Radius"/>$ring${line(s"q$q", cx, cy + 4)}</g>"""
  }

  private def arrow(t: Arrow): String = {
    val (x1, y1) = centre(t.from)
    val (x2, y2) = centre(t.to)
    val (path, labelX, labelY) =
      if (t.from == t.to) {
        val top = y1 - Radius - 34
        (
          s"M${x1 - 9} ${y1 - 16}C${x1 - 26} $top ${x1 + 26} $top ${x1 + 9} ${y1 - 16}",
          x1,
          top + 6 - t.height + LineHeight
        )
      } else if (isStraight(t)) {
        val d = math.hypot(x2 - x1, y2 - y1)
        val (ux, uy) = ((x2 - x1) / d * Radius, (y2 - y1) / d * Radius)
        (
          s"M${n(x1 + ux)} ${n(y1 + uy)}L${n(x2 - ux)} ${n(y2 - uy)}",
          (x1 + x2) / 2,
          (y1 + y2) / 2 - 6 - t.height + LineHeight
        )
      } else {
        val low = bottom(t)
        (
          s"M$x1 ${y1 + Radius}C$x1 $low $x2 $low $x2 ${y2 + Radius}",
          (x1 + x2) / 2,
          lowest(t) - 6 - t.height + LineHeight
        )
      }
    val texts = t.texts.zipWithIndex.map { case (text, i) => line(text, labelX, labelY + i * LineHeight) }
    s"""<g><title>${escape(
        t.texts.mkString("\n")
      )}</title><path d="$path" marker-end="url(#cer-arrow)"/>${texts.mkString}</g>"""
  }

  private def line(text: String, x: Double, y: Double): String = {
    val shown = if (text.length <= Longest) text else text.take(Longest - 1) + "…"
    s"""<text x="${n(x)}" y="${n(y)}" text-anchor="middle" fill="currentColor" stroke="none">${escape(shown)}</text>"""
  }

  private def n(d: Double): String = f"$d%.1f".replace(',', '.')

  private def escape(text: String): String = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
}
