package sparkcer.internal.stream

import java.nio.charset.StandardCharsets.UTF_8

import sparkcer.engine.state.{WireReader, WireWriter}

/** What a set of rules did in a bucket in one micro-batch.
  *
  * @param did
  *   the rules that did something
  * @param begunAnew
  *   the rules whose saved state was dropped because they are not the same any more
  * @param gone
  *   the rules whose saved state was dropped because the set does not have them any more
  */
final private[sparkcer] case class RuleTally(did: Seq[RuleCounts], begunAnew: Seq[String], gone: Seq[String]) {
  def bytes: Array[Byte] = {
    val out = new WireWriter
    def name(s: String): Unit = out.array(s.getBytes(UTF_8))
    out.int(did.length)
    did.foreach { r =>
      name(r.rule)
      out.long(r.events)
      out.long(r.matches)
      out.long(r.nodes)
      out.long(r.bytes)
      out.long(r.nanos)
    }
    Seq(begunAnew, gone).foreach { names =>
      out.int(names.length)
      names.foreach(name)
    }
    out.result()
  }
}

private[sparkcer] object RuleTally {
  def read(bytes: Array[Byte]): RuleTally = {
    val in = new WireReader(bytes, 0, bytes.length)
    def name() = new String(in.array(), UTF_8)
    def names() = Vector.fill(in.int())(name())
    val did =
      Vector.fill(in.int())(RuleCounts(name(), in.long(), in.long(), in.long(), in.long(), in.long()))
    RuleTally(did, names(), names())
  }
}

/** What one rule of a set did in a bucket in one micro-batch, and the size of its state after it. */
final private[sparkcer] case class RuleCounts(
    rule: String,
    var events: Long = 0,
    var matches: Long = 0,
    var nodes: Long = 0,
    var bytes: Long = 0,
    var nanos: Long = 0
)
