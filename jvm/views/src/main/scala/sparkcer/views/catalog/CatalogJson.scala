package sparkcer.views.catalog

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}

/** A catalog and its changes as JSON. Fields that are empty, zero or false are left out.
  *
  * The names of some fields are those of the first version, which must stay readable: `pieces` are folders, and the
  * `folder` of a piece is its path. Written by hand, because a catalog of ten thousand parts is several megabytes, and
  * reflection takes seconds for it.
  */
private[views] object CatalogJson {
  private val mapper = new ObjectMapper()

  def bytes(node: JsonNode): Array[Byte] = mapper.writeValueAsBytes(node)

  /** Fails if the text is not one whole JSON object. */
  def parse(bytes: Array[Byte]): ObjectNode = {
    val parser = mapper.createParser(bytes)
    try {
      val node = mapper.readTree[JsonNode](parser)
      require(parser.nextToken() == null, "there is text after the end")
      node match {
        case o: ObjectNode => o
        case _             => throw new IllegalArgumentException("it is not a JSON object")
      }
    } finally parser.close()
  }

  /** Is it a whole catalog, and not a change? */
  def isWhole(node: ObjectNode): Boolean = node.has("tables")

  def whole(c: Catalog): ObjectNode = {
    val node = mapper.createObjectNode()
    node.put("version", c.version)
    node.set[JsonNode]("tables", list(c.tables)(table))
    fill(node, "removed", c.removed)(removed)
    if (c.listed > 0) node.put("listed", c.listed)
    numbers(node, "writers", c.writers)
    node
  }

  def whole(node: ObjectNode): Catalog = Catalog(
    long(node, "version"),
    elements(node, "tables").map(table),
    elements(node, "removed").map(removed),
    numbers(node, "writers"),
    option(node, "listed").fold(0L)(_.asLong)
  )

  def change(c: CatalogChange): ObjectNode = {
    val node = mapper.createObjectNode()
    node.put("version", c.version)
    node.put("writer", c.writer)
    if (c.listed > 0) node.put("listed", c.listed)
    fill(node, "added", c.added)(table)
    texts(node, "dropped", c.dropped)
    fill(node, "changed", c.changed) { t =>
      val one = mapper.createObjectNode()
      one.put("id", t.id)
      settings(one, t.settings)
      changes(one, "parts", t.parts)(part)
      changes(one, "open", t.open)(part)
      changes(one, "aside", t.aside)(part)
      changes(one, "pieces", t.folders)(folder)
      changes(one, "appended", t.appended)(mapper.getNodeFactory.textNode)
      one
    }
    changes(node, "removed", c.removed)(removed)
    node
  }

  def change(node: ObjectNode): CatalogChange = CatalogChange(
    long(node, "version"),
    text(node, "writer"),
    option(node, "listed").fold(0L)(_.asLong),
    elements(node, "added").map(table),
    texts(node, "dropped"),
    elements(node, "changed").map { n =>
      TableChange(
        text(n, "id"),
        settings(n),
        changes(n, "parts")(part),
        changes(n, "open")(part),
        changes(n, "aside")(part),
        changes(n, "pieces")(folder),
        changes(n, "appended")(_.asText)
      )
    },
    changes(node, "removed")(removed)
  )

  private def table(t: Table): ObjectNode = {
    val node = mapper.createObjectNode()
    node.put("name", t.name)
    node.put("id", t.id)
    node.put("length", t.length)
    node.put("schema", t.schema)
    t.time.foreach(node.put("time", _))
    t.statement.foreach(node.put("statement", _))
    if (t.helper) node.put("helper", true)
    settings(node, TableSettings.of(t))
    fill(node, "parts", t.parts)(part)
    fill(node, "open", t.open)(part)
    fill(node, "aside", t.aside)(part)
    fill(node, "pieces", t.folders)(folder)
    texts(node, "appended", t.appended)
    node
  }

  private def table(node: JsonNode): Table = settings(node).to(
    Table(
      text(node, "name"),
      text(node, "id"),
      long(node, "length"),
      text(node, "schema"),
      option(node, "time").map(_.asText),
      option(node, "statement").map(_.asText),
      parts = elements(node, "parts").map(part),
      open = elements(node, "open").map(part),
      aside = elements(node, "aside").map(part),
      folders = elements(node, "pieces").map(folder),
      appended = texts(node, "appended"),
      helper = option(node, "helper").exists(_.asBoolean)
    )
  )

  private def settings(node: ObjectNode, s: TableSettings): Unit = {
    s.start.foreach(node.put("start", _))
    s.updates.foreach(node.put("updates", _))
    s.floor.foreach(node.put("floor", _))
    s.seen.foreach(node.put("seen", _))
    numbers(node, "batches", s.batches)
    fill(node, "failed", s.failed) { f =>
      mapper.createObjectNode().put("index", f.index).put("error", f.error).put("since", f.since)
    }
    numbers(node, "told", s.told)
  }

  private def settings(node: JsonNode): TableSettings = TableSettings(
    option(node, "start").map(_.asLong),
    option(node, "updates").map(_.asLong),
    option(node, "floor").map(_.asLong),
    option(node, "seen").map(_.asLong),
    numbers(node, "batches"),
    elements(node, "failed").map(n => FailedPart(long(n, "index"), text(n, "error"), long(n, "since"))),
    numbers(node, "told")
  )

  private def part(p: Part): ObjectNode = {
    val node = mapper.createObjectNode()
    node.put("index", p.index)
    texts(node, "pieces", p.folders)
    node.put("rows", p.rows).put("changed", p.changed).put("updated", p.updated)
    fill(node, "stale", p.stale)(name(_: PartName))
    if (p.frozen) node.put("frozen", true)
    texts(node, "reasons", p.reasons)
    if (p.lost > 0) node.put("lost", p.lost)
    fill(node, "without", p.without)(name(_: PartName))
    node
  }

  private def name(n: PartName): ObjectNode =
    mapper.createObjectNode().put("table", n.table).put("index", n.index)

  private def name(node: JsonNode): PartName = PartName(text(node, "table"), long(node, "index"))

  private def part(node: JsonNode): Part = Part(
    long(node, "index"),
    texts(node, "pieces"),
    long(node, "rows"),
    long(node, "changed"),
    long(node, "updated"),
    elements(node, "stale").map(name(_: JsonNode)),
    option(node, "frozen").exists(_.asBoolean),
    texts(node, "reasons"),
    option(node, "lost").fold(0L)(_.asLong),
    elements(node, "without").map(name(_: JsonNode))
  )

  private def folder(f: DataFolder): ObjectNode = {
    val node = mapper.createObjectNode().put("folder", f.path)
    if (f.rolled) node.put("rolled", true)
    if (f.parts > 0) node.put("parts", f.parts)
    fill(node, "files", f.files) { d =>
      mapper.createObjectNode().put("name", d.name).put("size", d.size).put("modified", d.modified)
    }
    node
  }

  private def folder(node: JsonNode): DataFolder = DataFolder(
    text(node, "folder"),
    option(node, "rolled").exists(_.asBoolean),
    elements(node, "files").map(n => DataFile(text(n, "name"), long(n, "size"), long(n, "modified"))),
    option(node, "parts").fold(0L)(_.asLong)
  )

  private def removed(r: RemovedFolder): ObjectNode =
    mapper.createObjectNode().put("folder", r.path).put("since", r.since)

  private def removed(node: JsonNode): RemovedFolder = RemovedFolder(text(node, "folder"), long(node, "since"))

  private def changes[A](node: ObjectNode, name: String, c: ListChange[A])(write: A => JsonNode): Unit =
    if (!c.isEmpty) {
      val both = mapper.createObjectNode()
      texts(both, "gone", c.gone)
      fill(both, "set", c.set)(write)
      node.set[JsonNode](name, both): Unit
    }

  private def changes[A](node: JsonNode, name: String)(read: JsonNode => A): ListChange[A] =
    option(node, name).fold(ListChange.none[A])(n => ListChange(texts(n, "gone"), elements(n, "set").map(read)))

  private def list[A](values: Vector[A])(write: A => JsonNode): ArrayNode = {
    val all = mapper.createArrayNode()
    values.foreach(v => all.add(write(v)))
    all
  }

  private def fill[A](node: ObjectNode, name: String, values: Vector[A])(write: A => JsonNode): Unit =
    if (values.nonEmpty) node.set[JsonNode](name, list(values)(write)): Unit

  private def texts(node: ObjectNode, name: String, values: Vector[String]): Unit =
    if (values.nonEmpty) {
      val all = node.putArray(name)
      values.foreach(all.add)
    }

  private def texts(node: JsonNode, name: String): Vector[String] = elements(node, name).map(_.asText)

  private def numbers(node: ObjectNode, name: String, values: Map[String, Long]): Unit =
    if (values.nonEmpty) {
      val all = node.putObject(name)
      values.foreach { case (k, n) => all.put(k, n) }
    }

  private def numbers(node: JsonNode, name: String): Map[String, Long] =
    option(node, name).fold(Map.empty[String, Long])(
      _.properties().asScala.map(e => e.getKey -> e.getValue.asLong).toMap
    )

  private def elements(node: JsonNode, name: String): Vector[JsonNode] =
    option(node, name).fold(Vector.empty[JsonNode])(_.elements().asScala.toVector)

  private def option(node: JsonNode, name: String): Option[JsonNode] = Option(node.get(name)).filterNot(_.isNull)

  private def needed(node: JsonNode, name: String): JsonNode =
    option(node, name).getOrElse(throw new IllegalArgumentException(s"the field '$name' is missing"))

  private def text(node: JsonNode, name: String): String = needed(node, name).asText
  private def long(node: JsonNode, name: String): Long = needed(node, name).asLong
}
