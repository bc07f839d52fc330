package sparkcer.engine.explain

final private[explain] case class Point(x: Double, y: Double)

/** A line through a picture, in the words of SVG: each command with its points. */
final private[explain] case class Path(commands: Vector[(Char, Vector[Point])]) {

  /** All its points. It stays in the rectangle around them. */
  def points: Vector[Point] = commands.flatMap(_._2)
  private def end: Point = points.last

  def line(to: Point): Path = commands match {
    case _ if to == end                                                  => this
    case before :+ (('L', _)) if points.takeRight(2).forall(_.y == to.y) => Path(before).add('L', to)
    case _                                                               => add('L', to)
  }

  /** An S from left to right, level at both ends. */
  def bend(to: Point): Path = {
    val half = (end.x + to.x) / 2
    if (to.y == end.y) line(to) else add('C', Point(half, end.y), Point(half, to.y), to)
  }

  def curve(control1: Point, control2: Point, to: Point): Path = add('C', control1, control2, to)

  /** A round corner. */
  def turn(corner: Point, to: Point): Path = add('Q', corner, to)

  /** The corners of the head of an arrow at the end, the point first. */
  def head: Vector[Point] = {
    val before = points(points.length - 2)
    val d = math.hypot(end.x - before.x, end.y - before.y)
    val (ux, uy) = ((end.x - before.x) / d, (end.y - before.y) / d)
    val (x, y) = (end.x - 8 * ux, end.y - 8 * uy)
    Vector(end, Point(x - 3.5 * uy, y + 3.5 * ux), Point(x + 3.5 * uy, y - 3.5 * ux))
  }

  private def add(command: Char, to: Point*): Path = Path(commands :+ (command, to.toVector))
}

private[explain] object Path {
  def apply(from: Point): Path = Path(Vector(('M', Vector(from))))
}
