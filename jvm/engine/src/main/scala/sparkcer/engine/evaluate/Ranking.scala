package sparkcer.engine.evaluate

import sparkcer.engine.ceql.Operator
import sparkcer.engine.compare.{Now, Shape}
import sparkcer.engine.state.Bytes

/** An index of entries in the order of a value, which has each value once. It finds the union of all entries on one
  * side of a value with a logarithmic number of unions.
  *
  * It is a treap in which each subtree has the union of the nodes of its entries. This union is computed when it is
  * needed and something in the subtree has changed. (chain-CEA, Section 6, has a list with pointers for `!=`; here one
  * tree is used for `!=` and for the order.)
  */
final private[evaluate] class Ranking(tecs: Tecs, rank: Shape.Rank, now: Now) {
  import Ranking._

  private var root: Part = _
  private var count = 0

  /** One of the entries that were selected last. */
  var example: Entry = _

  def size: Int = count
  def isEmpty: Boolean = root == null

  private def compare(a: Bytes, b: Bytes): Int =
    if (rank.order < 0) java.util.Arrays.compareUnsigned(a.array, b.array) else now.compare(rank.order, a, b)

  private def valueOf(e: Entry): Bytes = rank.value(e.cell)

  def add(e: Entry): Unit = { root = insert(root, new Part(e, valueOf(e))); count += 1 }

  def remove(e: Entry): Unit = { root = delete(root, valueOf(e)); count -= 1 }

  /** The entry has a new node. */
  def changed(e: Entry): Unit = {
    val value = valueOf(e)
    var p = root
    var going = true
    while (going) {
      p.fresh = false
      val o = compare(value, p.value)
      if (o == 0) going = false else p = if (o < 0) p.left else p.right
    }
  }

  private def insert(t: Part, p: Part): Part =
    if (t == null) p
    else {
      t.fresh = false
      val o = compare(p.value, t.value)
      if (o < 0) {
        t.left = insert(t.left, p)
        if (t.left.priority > t.priority) rotateRight(t) else t
      } else {
        t.right = insert(t.right, p)
        if (t.right.priority > t.priority) rotateLeft(t) else t
      }
    }

  private def rotateRight(t: Part): Part = {
    val l = t.left
    t.left = l.right
    l.right = t
    l.fresh = false
    l
  }

  private def rotateLeft(t: Part): Part = {
    val r = t.right
    t.right = r.left
    r.left = t
    r.fresh = false
    r
  }

  private def delete(t: Part, value: Bytes): Part = {
    t.fresh = false
    val o = compare(value, t.value)
    if (o == 0) join(t.left, t.right)
    else {
      if (o < 0) t.left = delete(t.left, value) else t.right = delete(t.right, value)
      t
    }
  }

  private def join(a: Part, b: Part): Part =
    if (a == null) b
    else if (b == null) a
    else if (a.priority > b.priority) { a.fresh = false; a.right = join(a.right, b); a }
    else { b.fresh = false; b.left = join(a, b.left); b }

  /** The union of the entries for which `entry operator value` holds, or 0 if there are none. */
  def select(operator: Operator, value: Bytes): Int = {
    example = null
    operator match {
      case Operator.NotEqual => tecs.union(side(Operator.Less, value), side(Operator.Greater, value))
      case other             => side(other, value)
    }
  }

  private def side(operator: Operator, value: Bytes): Int = {
    val below = operator == Operator.Less || operator == Operator.LessEqual
    var found = 0
    var p = root
    while (p != null) {
      val inside = operator.holds(compare(p.value, value))
      if (inside) {
        example = p.entry
        found = tecs.union(tecs.union(found, p.entry.node), all(if (below) p.left else p.right))
      }
      p = if (inside == below) p.right else p.left
    }
    found
  }

  private def all(p: Part): Int =
    if (p == null) 0
    else {
      if (!p.fresh) {
        p.union = tecs.union(tecs.union(all(p.left), p.entry.node), all(p.right))
        p.fresh = true
      }
      p.union
    }

  /** For tests. */
  def checkInvariants(): Unit = {
    def check(p: Part): Int =
      if (p == null) 0
      else {
        Seq(p.left, p.right)
          .filter(_ != null)
          .foreach(c => require(c.priority <= p.priority, "a treap is out of order"))
        if (p.left != null) require(compare(p.left.value, p.value) < 0, "a value is in the wrong place")
        if (p.right != null) require(compare(p.right.value, p.value) > 0, "a value is in the wrong place")
        check(p.left) + check(p.right) + 1
      }
    require(check(root) == count, "a ranking has lost count")
  }
}

private[evaluate] object Ranking {
  final private class Part(val entry: Entry, val value: Bytes) {
    var left: Part = _
    var right: Part = _

    /** The union of this subtree, valid if it is fresh. */
    var union = 0
    var fresh = false

    /** A hash of the value, so that the tree is balanced in whatever order values are added. It is not that of the
      * value itself: this one spreads the priorities of neighbouring numbers more evenly than chance does, so that
      * paths are shorter.
      */
    val priority: Int = { val h = java.util.Arrays.hashCode(value.array) * 0x9e3779b9; h ^ (h >>> 15) }
  }
}
