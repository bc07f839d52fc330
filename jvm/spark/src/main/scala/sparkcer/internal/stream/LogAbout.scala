package sparkcer.internal.stream

import java.nio.charset.StandardCharsets.UTF_8

import org.apache.spark.sql.cerbridge.CerRuntimeException
import org.apache.spark.sql.types.StructField

import sparkcer.engine.ceql.RecognizedQuery
import sparkcer.engine.state.{Frame, WireReader, WireWriter}
import sparkcer.internal.bind.Plan

/** What a log was written for, and where it ends. All of it must be the same when the log is read, because state refers
  * to columns by position, and to the conditions, states and labels of the compiled query by number. What is not here
  * may change on a checkpoint: measures and HAVING, the delay of the watermark, `idle`, `late` if the kept columns stay
  * the same, the name of the source and its columns that the query does not read, and the settings of the session.
  *
  * @param meaning
  *   what the numbers in the log mean; format 1 did not say
  */
final case class LogAbout(
    format: Int,
    query: String,
    events: String,
    time: String,
    meaning: Option[LogMeaning],
    piece: Long,
    nonce: Long
) {

  def head: LogHead = LogHead(piece, nonce)

  def bytes: Array[Byte] = {
    val out = new WireWriter
    out.int(format)
    out.long(piece)
    out.long(nonce)
    Seq(query, events, time).foreach(t => out.array(t.getBytes(UTF_8)))
    meaning.foreach { m =>
      Seq(m.types, m.others, m.digest).foreach(t => out.array(t.getBytes(UTF_8)))
      out.int(m.buckets)
    }
    out.result()
  }

  /** Throws, in words, if the log is not about what it is read for now. */
  def mustFit(now: LogAbout, first: FirstFormat): Unit = {
    if (format > now.format)
      throw new CerRuntimeException(
        "CER_STATE_MISMATCH.NEWER_LOG",
        "format" -> format.toString,
        "most" -> now.format.toString
      )
    if (!RecognizedQuery.agree(query, now.query)) same(query, now.query, "CER_STATE_MISMATCH.QUERY")
    same(events, now.events, "CER_STATE_MISMATCH.COLUMNS")
    same(time, now.time, "CER_STATE_MISMATCH.TIME")
    now.meaning.foreach { m =>
      same(meaning.fold(first.types)(_.types), m.types, "CER_STATE_MISMATCH.TYPE_COLUMN")
      if (meaning.isEmpty && !first.compiledAsNow) throw new CerRuntimeException("CER_STATE_MISMATCH.COMPILED")
      meaning.foreach(mustMean(_, m))
    }
  }

  private def mustMean(was: LogMeaning, now: LogMeaning): Unit = {
    same(was.others, now.others, "CER_STATE_MISMATCH.OTHER_TYPES")
    same(was.buckets.toString, now.buckets.toString, "CER_STATE_MISMATCH.BUCKETS")
    if (was.digest != now.digest) throw new CerRuntimeException("CER_STATE_MISMATCH.COMPILED")
  }

  private def same(was: String, now: String, key: String): Unit =
    if (was != now) throw new CerRuntimeException(key, "was" -> was, "now" -> now)
}

/** What the numbers in a log mean.
  *
  * @param types
  *   the type column, in words
  * @param others
  *   the types of columns that no event in the log shows: those of PARTITION BY and of WITHIN
  * @param buckets
  *   how many there are, on which a key's bucket depends
  * @param digest
  *   of the compiled query
  */
final case class LogMeaning(types: String, others: String, digest: String, buckets: Int)

/** What format 1 took without saying so.
  *
  * @param types
  *   the type column, in words
  * @param compiledAsNow
  *   whether it compiled the query as it is compiled now
  */
final case class FirstFormat(types: String, compiledAsNow: Boolean)

object LogAbout {

  /** The type column in words. */
  def types(column: Option[StructField]): String = column.fold("no type column")(f => s"type='${f.name}'")

  /** The format comes first, so that a newer one is told whatever follows it. */
  def read(bytes: Array[Byte]): LogAbout = {
    val in = new WireReader(bytes, 0, bytes.length)
    val format = in.int()
    if (format > Frame.Version) LogAbout(format, "", "", "", None, 0, 0)
    else {
      val (piece, nonce) = (in.long(), in.long())
      def text() = new String(in.array(), UTF_8)
      val (query, events, time) = (text(), text(), text())
      val meaning = if (format == 1) None else Some(LogMeaning(text(), text(), text(), in.int()))
      LogAbout(format, query, events, time, meaning, piece, nonce)
    }
  }

  /** Of a log that begins now. */
  def of(plan: Plan, buckets: Int): LogAbout = LogAbout(
    Frame.Version,
    plan.query.asked + (if (plan.stream.snapshots) "\nwith snapshots" else ""),
    plan.schema.event.toDDL,
    plan.stream.state.ordering,
    Some(
      LogMeaning(
        plan.stream.state.types,
        (plan.schema.key.map(f => s"${f.name} ${f.dataType.sql}") :+ plan.window.clock.dataType.sql).mkString(", "),
        plan.stream.state.digest,
        buckets
      )
    ),
    LogHead.Empty.piece,
    LogHead.Empty.nonce
  )
}
