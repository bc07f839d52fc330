package sparkcer.engine.explain

import sparkcer.engine.ceql.Printer
import sparkcer.engine.evaluate.Program

/** The automaton of a query as an SVG picture that needs nothing else: no `dot`, no script, no font. Above it is the
  * rest of the query, and below it what the labels mean. It takes the colour of the text around it, so that it shows on
  * light and on dark.
  */
object Svg {
  def apply(program: Program): String = new Svg(program).draw()

  /** The least width for the texts above and below. */
  private val TextWidth = 460.0
  private val Margin = 12.0

  /** From the bottom of a line of text to its baseline. */
  private val Descent = 3.5
}

final private class Svg(program: Program) {
  import Layout.Radius
  import Svg._

  private val a = program.cea
  private val layout = new Layout(a)

  /** The corners of everything in the picture of the automaton. */
  private val corners: Vector[Point] =
    layout.states.flatMap(c => Vector(Point(c.x - Radius, c.y - Radius), Point(c.x + Radius, c.y + Radius))) ++
      layout.entrance.points ++ layout.drawn.flatMap(d => d.path.points ++ d.path.head) ++
      layout.drawn.flatMap(d =>
        Vector(d.label, Point(d.label.x + d.arrow.label.width, d.label.y + d.arrow.label.height))
      )

  private val left = corners.map(_.x).min
  private val width = math.max(corners.map(_.x).max - left, TextWidth)
  private val (caption, legend) = (text(Vector(Printer.outline(program.query))), text(meanings))

  private def text(lines: Vector[String]): Label =
    Label(lines.flatMap(Label.filled(_, (width / Label.Letter).toInt)))

  /** Only of what there is. */
  private def meanings: Vector[String] = {
    val label =
      if (a.transitions.forall(_.label == 0)) "event: the event it takes"
      else "event / variable: the event it takes / the variable it is bound to"
    val any = if (a.transitions.exists(Diagram.asked(a, _).isEmpty)) "any: every event; " else ""
    Vector(label, s"${any}double circle: a match") ++ Diagram.after(program)
  }

  def draw(): String = {
    val top = corners.map(_.y).min - Margin - caption.height
    val bottom = corners.map(_.y).max + Margin
    val (w, h) = (math.ceil(width + 2 * Margin).toInt, math.ceil(bottom + legend.height - top + 2 * Margin).toInt)
    val box = s"${n(left - Margin)} ${n(top - Margin)} $w $h"
    val style = "font-family=\"ui-monospace, monospace\" font-size=\"11\" fill=\"none\" stroke=\"currentColor\""
    val open =
      s"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="$box" width="$w" height="$h" role="img" $style>"""
    val around = Vector(
      s"<title>${escape(Printer.print(program.query))}</title>",
      s"<g>${lines(caption, Point(left, top))}</g>",
      s"<g>${lines(legend, Point(left, bottom))}</g>",
      s"<g>${path(layout.entrance)}</g>"
    )
    (Vector(open) ++ around ++ layout.drawn.map(arrow) ++ (0 until a.states).map(state) :+ "</svg>").mkString("\n")
  }

  private def state(q: Int): String = {
    val Point(x, y) = layout.states(q)
    def ring(radius: Double) = s"""<circle cx="${n(x)}" cy="${n(y)}" r="${n(radius)}"/>"""
    val rings = ring(Radius) + (if (a.finals(q)) ring(Radius - 4) else "")
    s"<g>$rings${line(s"q$q", Point(x, y + 4), Middle)}</g>"
  }

  private def arrow(d: Layout.Drawn): String =
    s"<g><title>${escape(d.arrow.texts.mkString("\n"))}</title>${path(d.path)}${label(d)}</g>"

  private def path(p: Path): String = {
    val line = p.commands.map { case (command, points) => command.toString + points.map(at).mkString(" ") }.mkString
    s"""<path d="$line"/><path d="M${p.head.map(at).mkString("L")}z" $Ink/>"""
  }

  /** One line is centred, also where letters are narrower than the layout expects. */
  private def label(d: Layout.Drawn): String = d.arrow.label.lines match {
    case Vector(one) =>
      val x = d.label.x + d.arrow.label.width / 2
      line(one.text, Point(x, d.label.y + Label.LineHeight - Descent), Middle)
    case _ => lines(d.arrow.label, d.label)
  }

  private def lines(label: Label, corner: Point): String =
    label.lines.zipWithIndex.map { case (l, i) =>
      val (x, y) = (corner.x + l.indent * Label.Letter, corner.y + (i + 1) * Label.LineHeight - Descent)
      line(l.text, Point(x, y), "")
    }.mkString

  private def line(text: String, p: Point, style: String): String =
    s"""<text x="${n(p.x)}" y="${n(p.y)}" $Ink$style>${escape(text)}</text>"""

  private val Middle = " text-anchor=\"middle\""
  private val Ink = "fill=\"currentColor\" stroke=\"none\""

  private def at(p: Point): String = s"${n(p.x)} ${n(p.y)}"

  private def n(d: Double): String = (math.round(d * 10) / 10.0).toString.stripSuffix(".0")

  /** XML has no word for most control characters. */
  private def escape(text: String): String =
    text
      .replaceAll("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f]", "\ufffd")
      .replace("&", "&amp;")
      .replace("<", "&lt;")
      .replace(">", "&gt;")
}
