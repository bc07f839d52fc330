package sparkcer.engine.testkit

import java.io.ByteArrayInputStream
import javax.xml.parsers.DocumentBuilderFactory

import org.w3c.dom.Element

/** What an SVG picture has drawn, and where. Letters are as wide as those of the widest of the usual fonts. */
final class Drawing(svg: String) {
  import Drawing._

  private val root: Element = DocumentBuilderFactory
    .newInstance()
    .newDocumentBuilder()
    .parse(new ByteArrayInputStream(svg.getBytes("UTF-8")))
    .getDocumentElement

  private def all(tag: String): Vector[Element] = {
    val found = root.getElementsByTagName(tag)
    Vector.tabulate(found.getLength)(i => found.item(i).asInstanceOf[Element])
  }
  private def number(e: Element, name: String): Double = e.getAttribute(name).toDouble

  val titles: Vector[String] = all("title").map(_.getTextContent)

  val circles: Vector[Circle] = all("circle").map(e => Circle(number(e, "cx"), number(e, "cy"), number(e, "r")))

  val texts: Vector[Text] = all("text").map { e =>
    val text = e.getTextContent
    val (x, y, width) = (number(e, "x"), number(e, "y"), text.length * 6.7)
    val left = if (e.getAttribute("text-anchor") == "middle") x - width / 2 else x
    Text(text, Box(left, y - 9, left + width, y + 3))
  }

  /** Each line as points that are two pixels apart at the most. */
  val paths: Vector[Array[(Double, Double)]] = all("path").map { e =>
    val commands =
      "([MLCQz])([-0-9. ]*)".r.findAllMatchIn(e.getAttribute("d")).map(m => (m.group(1), m.group(2))).toVector
    commands
      .foldLeft(Vector.empty[(Double, Double)]) { case (done, (command, numbers)) =>
        val points =
          numbers.trim.split(" ").filter(_.nonEmpty).map(_.toDouble).grouped(2).map(p => (p(0), p(1))).toVector
        if (command == "M") points
        else if (command == "z") done ++ curve(Vector(done.last, done.head))
        else done ++ curve(done.last +: points)
      }
      .toArray
  }

  val whole: Box = {
    val b = root.getAttribute("viewBox").split(" ").map(_.toDouble)
    Box(b(0), b(1), b(0) + b(2), b(1) + b(3))
  }

  /** What lies on something else or near the border, in words. Empty for a picture that can be read. */
  def faults: Vector[String] = {
    val inside = Box(whole.left + 8, whole.top + 8, whole.right - 8, whole.bottom - 8)
    val states = circles.filter(_.r == 18)
    val bounded = paths.map(p => (p, Box(p.map(_._1).min, p.map(_._2).min, p.map(_._1).max, p.map(_._2).max)))
    val onText = pairs(texts).collect { case (s, t) if s.box.meets(t.box) => s"'${s.text}' lies on '${t.text}'" }
    val onLine =
      for ((p, b) <- bounded; t <- texts if b.meets(t.box) && p.exists(t.box.contains))
        yield s"'${t.text}' lies on an arrow"
    val onState =
      for (t <- texts if !t.text.matches("q\\d+"); c <- states if c.meets(t.box))
        yield s"'${t.text}' lies on a state"
    val through =
      for ((p, b) <- bounded; c <- states if b.meets(c.box) && p.exists(c.contains))
        yield s"an arrow goes through $c"
    val touching = pairs(states).collect { case (c, d) if math.hypot(c.x - d.x, c.y - d.y) < 40 => s"$c lies on $d" }
    val out = texts.map(t => (t.text, t.box)) ++ states.map(c => (c.toString, c.box)) ++
      bounded.map { case (p, b) => (s"an arrow from ${p.head}", b) } filterNot { case (_, b) =>
        inside.around(b)
      } map (_._1)
    onText.toVector ++ onLine ++ onState ++ through ++ touching ++ out.map(_ + " is near the border or outside")
  }
}

object Drawing {
  private def pairs[A](all: Vector[A]): Iterator[(A, A)] =
    all.indices.iterator.flatMap(i => all.drop(i + 1).iterator.map((all(i), _)))

  final case class Text(text: String, box: Box)

  final case class Circle(x: Double, y: Double, r: Double) {
    def box: Box = Box(x - r, y - r, x + r, y + r)
    def contains(p: (Double, Double)): Boolean = math.hypot(p._1 - x, p._2 - y) < r - 1
    def meets(b: Box): Boolean =
      math.hypot(x - math.max(b.left, math.min(b.right, x)), y - math.max(b.top, math.min(b.bottom, y))) < r
  }

  final case class Box(left: Double, top: Double, right: Double, bottom: Double) {
    def contains(p: (Double, Double)): Boolean = p._1 > left && p._1 < right && p._2 > top && p._2 < bottom
    def around(b: Box): Boolean = left <= b.left && b.right <= right && top <= b.top && b.bottom <= bottom

    /** A line has no width, so sides that touch count. */
    def meets(b: Box): Boolean = left <= b.right && b.left <= right && top <= b.bottom && b.top <= bottom
  }

  /** A Bézier curve of any degree, from the second point on. */
  private def curve(controls: Vector[(Double, Double)]): Vector[(Double, Double)] = {
    val length = controls.zip(controls.tail).map { case (p, q) => math.hypot(p._1 - q._1, p._2 - q._2) }.sum
    val steps = math.max(1, (length / 2).ceil.toInt) * (controls.length - 1)
    (1 to steps).map(i => at(controls, i.toDouble / steps)).toVector
  }

  private def at(controls: Vector[(Double, Double)], t: Double): (Double, Double) =
    if (controls.length == 1) controls.head
    else
      at(controls.zip(controls.tail).map { case (p, q) => (p._1 + (q._1 - p._1) * t, p._2 + (q._2 - p._2) * t) }, t)
}
