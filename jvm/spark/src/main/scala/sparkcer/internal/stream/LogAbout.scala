package sparkcer.internal.stream

import java.nio.charset.StandardCharsets.UTF_8

import org.apache.spark.sql.cerbridge.CerRuntimeException
import org.apache.spark.sql.types.StructField

import sparkcer.engine.state.{Frame, WireReader, WireWriter}
import sparkcer.internal.bind.Plan

/** What a log was written for, and where it ends. All of it must be the same when the log is read: state names columns
  * by their place, and the conditions, states and labels of the compiled query by number. What is not here may change
  * on a checkpoint: the delay of the watermark, `late`, `idle`, the name and the columns of the source that the query
  * does not read, and the settings of the session.
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
      refuse(
        s"The checkpoint was written in format $format by a newer spark-cer, and this one reads formats up to ${now.format}.",
        "Use that newer version."
      )
    same(query, now.query, "The checkpoint was written by another query.")
    same(events, now.events, "The events have other columns than when the checkpoint was written.")
    same(time, now.time, "The events are ordered otherwise than when the checkpoint was written.")
    now.meaning.foreach { m =>
      sameTypes(meaning.fold(first.types)(_.types), m.types)
      if (meaning.isEmpty && !first.compiledAsNow) refuse(LogAbout.Recompiled, LogAbout.Older)
      meaning.foreach(mustMean(_, m))
    }
  }

  private def mustMean(was: LogMeaning, now: LogMeaning): Unit = {
    same(
      was.others,
      now.others,
      "A column of PARTITION BY or WITHIN has another type than when the checkpoint was written."
    )
    if (was.buckets != now.buckets)
      refuse(
        s"The checkpoint was written with ${was.buckets} buckets of keys, one for each shuffle partition, and now there are ${now.buckets}.",
        LogAbout.Fresh
      )
    if (was.digest != now.digest) refuse(LogAbout.Recompiled, LogAbout.Older)
  }

  private def sameTypes(was: String, now: String): Unit =
    if (was != now) refuse(s"The checkpoint was written with $was, and now there is $now.", LogAbout.Fresh)

  private def same(was: String, now: String, problem: String): Unit =
    if (was != now) refuse(s"$problem\nThen: $was\nNow:  $now\n", LogAbout.Fresh)

  private def refuse(problem: String, advice: String): Nothing =
    throw new CerRuntimeException("CER_STATE_MISMATCH", s"$problem $advice")
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

  private val Fresh = "Start with a new checkpointLocation, or go back to what it was."
  private val Recompiled =
    "This version of spark-cer compiles the query otherwise than the one that wrote the checkpoint."
  private val Older = "Start with a new checkpointLocation, or use that version."

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
