import org.apache.spark.sql.{Column, DataFrame}
import org.apache.spark.sql.functions.lit

import sparkcer.internal.bind.Options
import sparkcer.internal.rules.Rule
import sparkcer.internal.stream.Snapshot

/** Complex event recognition on DataFrames.
  *
  * {{{
  * import sparkcer._
  * val matches = events.cer("SELECT * FROM S WHERE (SELL AS x ; BUY AS y) WITHIN 30 seconds", time = "ts")
  * }}}
  */
package object sparkcer {

  /** The matches of a query over several inputs, each under its name in FROM; the rest as for [[CerDataFrame.cer]].
    *
    * {{{
    * sparkcer.over("SELECT * FROM Buys, Sells WHERE Sells ; Buys WITHIN 1 minute", Map("Buys" -> b, "Sells" -> s), time = "ts")
    * }}}
    */
  def over(
      query: String,
      inputs: Map[String, DataFrame],
      time: String = null,
      eventType: TypeColumn = TypeColumn.Default,
      order: String = null,
      lateRows: Boolean = false,
      idle: String = null,
      snapshots: Boolean = false,
      until: String = null,
      params: Map[String, Any] = Map.empty
  ): DataFrame =
    Cer.over(inputs, query, Options.of(time, eventType, order, lateRows, idle, snapshots, until, params))

  /** The matches of many queries over several inputs, each under the name that queries have for it in FROM; the rest as
    * for [[CerDataFrame.cerRules]]. A query sees the events of the inputs that its FROM names. A stream must have the
    * inputs in the same order each time that it is started.
    */
  def rulesOver(
      rules: Map[String, String],
      inputs: Seq[(String, DataFrame)],
      time: String = null,
      eventType: TypeColumn = TypeColumn.Default,
      order: String = null,
      lateRows: Boolean = false,
      idle: String = null,
      until: String = null,
      skipInvalid: Boolean = false
  ): DataFrame = {
    val options = Options.of(time, eventType, order, lateRows, idle, snapshots = false, until, Map.empty)
    CerRules.over(inputs, Rule.all(rules), options, skipInvalid)
  }

  implicit final class CerDataFrame(private val events: DataFrame) extends AnyVal {

    /** The matches of a CEQL query over these events.
      *
      * @param time
      *   the column that orders the events; by default the attribute of `WITHIN n [a]`, or the watermark's column
      * @param eventType
      *   the column with an event's type, or null if there is none; by default `type`, if there is such a column and
      *   the pattern names anything but the inputs of FROM
      * @param order
      *   a column that decides between events of the same time
      * @param lateRows
      *   whether events of a stream that come too late are rows too, in a column `late`; else they are counted only
      * @param idle
      *   after how long without events the state of a key of a stream is dropped, such as `7 days`
      * @param snapshots
      *   whether a stream keeps what [[cerSnapshot]] needs, the events of the last two windows
      * @param until
      *   for a batch of a query that ends with `NO … FOR`: the time up to which the events are complete, or `forever`;
      *   by default the time of the last event
      * @param params
      *   the values of the query's `:name` parameters
      */
    def cer(
        query: String,
        time: String = null,
        eventType: TypeColumn = TypeColumn.Default,
        order: String = null,
        lateRows: Boolean = false,
        idle: String = null,
        snapshots: Boolean = false,
        until: String = null,
        params: Map[String, Any] = Map.empty
    ): DataFrame =
      Cer(events, query, Options.of(time, eventType, order, lateRows, idle, snapshots, until, params))

    /** The matches of many queries, each under a name, in one pass: events are read once, equal conditions are
      * evaluated once, and queries with the same PARTITION BY share a shuffle and, on a stream, the state.
      *
      * A row has `rule_id`, `match_id`, `key`, `start`, `end`, the `events` with their variables, `measures`, and
      * `matches` for COUNT(*). A query without LIMIT returns at most 1,000 matches of an event; if there are more, the
      * last of them is `truncated`.
      *
      * @param skipInvalid
      *   whether a query that is wrong is left out with a warning, instead of being an error
      */
    def cerRules(
        rules: Map[String, String],
        time: String = null,
        eventType: TypeColumn = TypeColumn.Default,
        order: String = null,
        lateRows: Boolean = false,
        idle: String = null,
        until: String = null,
        skipInvalid: Boolean = false
    ): DataFrame = {
      val options = Options.of(time, eventType, order, lateRows, idle, snapshots = false, until, Map.empty)
      CerRules(events, Rule.all(rules), options, skipInvalid)
    }

    /** The matches that ended within the last window, before the time `at` or the last event's: of a batch; or, with
      * the `checkpoint` of a query that runs over these events with `snapshots`, as of its last micro-batch.
      */
    def cerSnapshot(
        query: String,
        at: Any = null,
        checkpoint: String = null,
        time: String = null,
        eventType: TypeColumn = TypeColumn.Default,
        order: String = null,
        lateRows: Boolean = false,
        params: Map[String, Any] = Map.empty
    ): DataFrame = {
      val options = Options.of(time, eventType, order, lateRows, null, snapshots = false, until = null, params)
      val moment = Option(at).map { case c: Column => c; case v => lit(v) }
      if (checkpoint == null) Snapshot.batch(events, query, options, moment)
      else Snapshot.stream(events, query, options, moment, checkpoint)
    }
  }
}
