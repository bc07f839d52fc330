package sparkcer.engine.evaluate

import sparkcer.engine.compare.{Now, Shape}

/** The entries of one shape, and their indexes: a hash index for each key of the shape, and an ordered index for each
  * rank. An index is built when it is first used, and then kept up to date.
  */
final private[evaluate] class Group(val shape: Shape, tecs: Tecs, now: Now) {
  private val all = new EntryList
  private var byKey = new Array[java.util.HashMap[AnyRef, EntryList]](0)

  def size: Int = all.size
  def entry(i: Int): Entry = all.entry(i)
  def indexes: Int = byKey.count(_ != null) + byRank.count(_ != null)

  def index(key: Int): java.util.HashMap[AnyRef, EntryList] = {
    if (key >= byKey.length) byKey = java.util.Arrays.copyOf(byKey, key + 1)
    if (byKey(key) == null) {
      byKey(key) = new java.util.HashMap
      (0 until size).foreach(i => insert(key, entry(i)))
    }
    byKey(key)
  }

  private var byRank = new Array[java.util.HashMap[AnyRef, Ranking]](0)

  /** The ordered index of the entries with this key, or null if there are none. */
  def ranking(rank: Int, key: AnyRef): Ranking = {
    if (rank >= byRank.length) byRank = java.util.Arrays.copyOf(byRank, rank + 1)
    if (byRank(rank) == null) {
      byRank(rank) = new java.util.HashMap
      (0 until size).foreach(i => enter(rank, entry(i)))
    }
    byRank(rank).get(key)
  }

  private def enter(rank: Int, e: Entry): Unit = {
    val r = shape.ranks(rank)
    var ranking = byRank(rank).get(r.key(e.cell))
    if (ranking == null) {
      ranking = new Ranking(tecs, r, now)
      byRank(rank).put(r.key(e.cell), ranking)
    }
    ranking.add(e)
  }

  def add(e: Entry): Unit = {
    e.place = all.size
    all.add(e)
    var k = 0
    while (k < byKey.length) { if (byKey(k) != null) insert(k, e); k += 1 }
    k = 0
    while (k < byRank.length) { if (byRank(k) != null) enter(k, e); k += 1 }
  }

  /** The entry has a new node. */
  def changed(e: Entry): Unit = {
    var k = 0
    while (k < byRank.length) {
      if (byRank(k) != null) byRank(k).get(shape.ranks(k).key(e.cell)).changed(e)
      k += 1
    }
  }

  def remove(e: Entry): Unit = {
    val moved = all.removeAt(e.place)
    if (moved != null) moved.place = e.place
    var k = 0
    while (k < byRank.length) {
      if (byRank(k) != null) {
        val key = shape.ranks(k).key(e.cell)
        val ranking = byRank(k).get(key)
        ranking.remove(e)
        if (ranking.isEmpty) byRank(k).remove(key): Unit
      }
      k += 1
    }
    k = 0
    while (k < byKey.length) {
      if (byKey(k) != null) {
        if (shape.single) removeFrom(k, shape.keys(k).of(e.cell), e)
        else keys(k, e)(removeFrom(k, _, e))
      }
      k += 1
    }
  }

  private def removeFrom(key: Int, value: AnyRef, e: Entry): Unit = {
    val bucket = byKey(key).get(value)
    bucket.remove(e)
    if (bucket.size == 0) byKey(key).remove(value): Unit
  }

  private def insert(key: Int, e: Entry): Unit =
    if (shape.single) insertInto(key, shape.keys(key).of(e.cell), e)
    else keys(key, e)(insertInto(key, _, e))

  private def insertInto(key: Int, value: AnyRef, e: Entry): Unit = {
    var bucket = byKey(key).get(value)
    if (bucket == null) { bucket = new EntryList; byKey(key).put(value, bucket) }
    bucket.add(e)
  }

  /** The values of the key in an entry: one for each cell of its kind. */
  private def keys(key: Int, e: Entry)(f: AnyRef => Unit): Unit = {
    val k = shape.keys(key)
    val kind = shape.cells(k.cell)
    e.configuration.foreach(c => if (kind.is(c)) f(k.of(c)))
  }

  def checkInvariants(): Unit = {
    (0 until size).foreach(i => require(entry(i).place == i, "an entry does not know its place"))
    byRank.indices.foreach { k =>
      if (byRank(k) != null) {
        var ranked = 0
        byRank(k).values.forEach { r => r.checkInvariants(); ranked += r.size }
        require(ranked == size, s"$ranked entries are ranked, of $size")
      }
    }
    byKey.indices.foreach { k =>
      if (byKey(k) != null) {
        var indexed = 0
        byKey(k).values.forEach(b => indexed += b.size)
        var wanted = 0
        (0 until size).foreach(i => keys(k, entry(i))(_ => wanted += 1))
        require(indexed == wanted, s"an index has $indexed entries in place of $wanted")
      }
    }
  }
}
