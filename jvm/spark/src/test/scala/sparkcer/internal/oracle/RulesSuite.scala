package sparkcer.internal.oracle

import java.nio.file.Files
import java.sql.Timestamp
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._
import scala.util.Random

import org.apache.spark.sql.{DataFrame, Row, SQLContext}
import org.apache.spark.sql.functions.expr

import sparkcer._
import sparkcer.engine.ceql.Parser
import sparkcer.engine.testkit.Properties
import sparkcer.internal.bind.Options
import sparkcer.internal.rules.Rule
import sparkcer.internal.testkit.Memory.MemoryStream
import sparkcer.internal.testkit.SparkSuite

/** A set of rules returns what each of its rules returns alone. */
class RulesSuite extends SparkSuite {
  import RulesSuite._

  private val session = spark
  import session.implicits._

  private def events(rng: Random, n: Int): DataFrame =
    (0 until n).map(BatchStreamSuite.event(rng, _)).toDF("type", "ts", "id", "key", "p")

  private def together(df: DataFrame, rules: Seq[Rule]): DataFrame =
    CerRules(df, rules, Options(time = Some("ts")), skipInvalid = false)

  /** The matches of a rule alone, in the form of a set's rows. */
  private def alone(found: DataFrame, rule: Rule): Seq[String] = {
    val json = found.columns.toSeq.filter(n => Seq("n", "mean", "since", "ids").contains(n))
    found.collect().toSeq.map { row =>
      if (found.columns.contains("matches")) s"${rule.id} ${row.getAs[Any]("end")} ${row.getAs[Long]("matches")}"
      else {
        val bound =
          found.columns.toSeq
            .filterNot(n => Fixed(n) || json.contains(n))
            .flatMap(n => ids(row.getAs[Any](n)).map(_ -> n))
        val measures = json.map(n => s"$n=${row.getAs[Any](n)}").mkString(" ")
        s"${rule.id} ${row.getAs[String]("match_id")} ${row.getAs[Any]("start")} ${row.getAs[Any]("end")} ${show(bound)} $measures"
      }
    }
  }

  private def ids(value: Any): Seq[Int] = value match {
    case null                         => Nil
    case r: Row                       => Seq(r.getAs[Int]("id"))
    case all: scala.collection.Seq[_] => all.toSeq.flatMap(ids)
    case other                        => throw new IllegalArgumentException(s"$other is no event")
  }

  private def show(bound: Seq[(Int, String)]): String =
    bound
      .groupMap(_._1)(_._2)
      .toVector
      .sortBy(_._1)
      .map { case (id, names) => s"$id:${names.sorted.mkString("+")}" }
      .mkString(",")

  private def rowsOf(found: DataFrame, shown: Map[String, Set[String]]): Seq[String] = found
    .withColumn("n", expr("variant_get(measures, '$.n', 'bigint')"))
    .withColumn("mean", expr("variant_get(measures, '$.mean', 'double')"))
    .withColumn("since", expr("variant_get(measures, '$.since', 'timestamp')"))
    .withColumn("ids", expr("variant_get(measures, '$.ids', 'array<int>')"))
    .collect()
    .toSeq
    .map { row =>
      val id = row.getAs[String]("rule_id")
      if (!row.isNullAt(row.fieldIndex("matches"))) s"$id ${row.getAs[Any]("end")} ${row.getAs[Long]("matches")}"
      else {
        val bound = row.getSeq[Row](row.fieldIndex("events")).toSeq.flatMap { e =>
          e.getSeq[String](0).toSeq.filter(shown(id)).map(e.getStruct(1).getAs[Int]("id") -> _)
        }
        val measures =
          if (row.isNullAt(row.fieldIndex("measures"))) ""
          else Seq("n", "mean", "since", "ids").map(n => s"$n=${row.getAs[Any](n)}").mkString(" ")
        s"$id ${row.getAs[String]("match_id")} ${row.getAs[Any]("start")} ${row.getAs[Any]("end")} ${show(bound)} $measures"
      }
    }

  /** Fails unless a set returns what its rules return alone. A rule that was cut returns what it does with LIMIT 1000,
    * under other match_ids, because these depend on the text of the query.
    */
  private def check(together: DataFrame, rules: Seq[Rule])(query: String => DataFrame): Unit = {
    val cut = together.where("truncated").select("rule_id").distinct().collect().map(_.getString(0)).toSet
    def withoutId(row: String) = row.replaceFirst(" [0-9a-f]+ ", " ")
    val own = rules.map(r => r -> query(if (cut(r.id)) s"${r.query} LIMIT 1000" else r.query))
    val apart = own.flatMap { case (r, found) =>
      if (cut(r.id)) alone(found, r).map(withoutId) else alone(found, r)
    }
    val found = rowsOf(together, own.map { case (r, found) => r.id -> found.columns.toSet }.toMap)
    same(found.map(row => if (cut(row.takeWhile(_ != ' '))) withoutId(row) else row), apart, rules)
    assert(apart.length > 20, s"only ${apart.length} matches")
  }

  /** Fails with what is too much and what is missing, and with the rules that they belong to. */
  private def same(found: Seq[String], expected: Seq[String], rules: Seq[Rule]): Unit = {
    val (more, missing) = (found.diff(expected), expected.diff(found))
    val ids = (more ++ missing).map(_.takeWhile(_ != ' ')).toSet
    def clue = rules.filter(r => ids(r.id)).map(r => s"${r.id}: ${r.query}")
    def lines(rows: Seq[String]) = rows.sorted.take(10).map("  " + _)
    def text = (clue ++ ("more:" +: lines(more)) ++ ("missing:" +: lines(missing))).mkString("\n")
    assert(more.isEmpty && missing.isEmpty, text)
  }

  private val seeds = sys.env.get("CER_RULES_SEED").map(_.toLong).toVector match {
    case Vector() => Vector.fill(if (Properties.Long) 40 else 2)(Random.nextInt(1 << 30).toLong)
    case named    => named
  }

  for (seed <- seeds)
    test(s"a set of random rules returns what each returns alone (CER_RULES_SEED=$seed)") {
      val rng = new Random(seed)
      val df = events(rng, 150).cache()
      val rules = drawn(rng).take(15).zipWithIndex.map { case (q, i) => Rule(s"r$i", q) }.toVector
      check(together(df, rules), rules)(df.cer(_, time = "ts"))
      df.unpersist(): Unit
    }

  for (seed <- seeds)
    test(s"a set over several inputs returns what each rule returns over its own (CER_RULES_SEED=$seed)") {
      val rng = new Random(seed)
      // One input has another column, one has its columns in another order, and two have events of the same time.
      val inputs = Vector(
        "S" -> events(rng, 60).withColumn("note", expr("concat('n', id)")),
        "T" -> events(rng, 60).select("p", "key", "id", "ts", "type"),
        "U" -> events(rng, 30)
      ).map { case (name, df) => name -> df.withColumn("ts", expr("date_trunc('second', ts)")).cache() }
      val rules = drawn(rng)
        .take(15)
        .zipWithIndex
        .map { case (q, i) =>
          val from = rng.shuffle(inputs.indices.toVector).take(1 + rng.nextInt(3)).sorted.map(inputs(_)._1)
          Rule(s"r$i", q.replace("FROM S", s"FROM ${from.mkString(", ")}"))
        }
        .toVector
      check(CerRules.over(inputs, rules, Options(time = Some("ts")), skipInvalid = false), rules) { query =>
        val from = Parser.parse(query).from.map(_.value)
        sparkcer.over(query, inputs.filter(i => from.contains(i._1)).toMap, time = "ts")
      }
      inputs.foreach(_._2.unpersist(): Unit)
    }

  implicit private val sqlContext: SQLContext = spark.sqlContext

  private def drawn(rng: Random): Iterator[String] = Iterator
    .continually(BatchStreamSuite.query(rng))
    .filterNot(q => q.contains("CONSUME BY ANY") || q.contains("WITHIN 9 [id]"))

  private def named(ids: Seq[String], queries: Iterator[String]): Vector[Rule] =
    ids.toVector.map(id => Rule(id, queries.next()))

  for (seed <- seeds)
    test(s"a stream of a set that changes returns what each rule returns alone (CER_RULES_SEED=$seed)") {
      val rng = new Random(seed)
      val all = (0 until 80).map(BatchStreamSuite.event(rng, _)).toVector
      // Rules that stay have matches, so that they can lose some.
      val candidates = drawn(rng).take(16).toVector.zipWithIndex.map { case (q, i) => Rule(s"c$i", q) }
      val matching =
        identified(together(all.toDF("type", "ts", "id", "key", "p"), candidates)).map(_.takeWhile(_ != ' ')).toSet
      val (good, rest) = candidates.map(c => c.id -> c.query).partition(c => matching(c._1))
      val queries = (good.drop(5) ++ rest).map(_._2).iterator ++ drawn(rng)
      val kept = named((0 until 5).map(i => s"k$i"), good.take(5).map(_._2).iterator ++ queries)
      val before = kept ++ named(Seq("gone", "other"), queries)
      val after = named(Seq("new", "other"), queries) ++ kept.reverse
      val arriving = all.map(e => (e._2.getTime + rng.nextInt(6000), e._3, e)).sortBy(e => (e._1, e._2)).map(_._3)
      val far = Seq(1000000, 1000001).map(n => ("Z", new Timestamp(1700000000000L + n * 1000L), n, "far", 0))
      val input = MemoryStream[BatchStreamSuite.Event]
      val checkpoint = Files.createTempDirectory("cer").toString
      val found = new ConcurrentLinkedQueue[String]
      def run(rules: Seq[Rule], parts: Seq[Seq[BatchStreamSuite.Event]]): Unit = {
        val collect: (DataFrame, Long) => Unit = (rows, _) => identified(rows).foreach(r => found.add(r): Unit)
        val stream = input.toDF().toDF("type", "ts", "id", "key", "p").withWatermark("ts", "6 seconds")
        val running =
          together(stream, rules).writeStream.foreachBatch(collect).option("checkpointLocation", checkpoint).start()
        try
          parts.foreach { part =>
            input.addData(part: _*)
            running.processAllAvailable()
          }
        finally running.stop()
      }
      val (first, second) = arriving.splitAt(40)
      run(before, first.grouped(15).toVector)
      val between = found.asScala.toVector
      run(after, second.take(1) +: second.drop(1).grouped(17).toVector)
      run(after.reverse :+ before.find(_.id == "gone").get, far.map(Seq(_)))
      def batch(events: Seq[BatchStreamSuite.Event], rules: Seq[Rule]) =
        identified(together((events ++ far).toDF("type", "ts", "id", "key", "p"), rules)).toVector
      def of(id: String, rows: Seq[String]) = rows.filter(_.startsWith(s"$id ")).sorted
      val rows = found.asScala.toVector
      val text = (before ++ after).map(r => s"${r.id}: ${r.query}").mkString("\n")
      // Rules that stay do not notice.
      kept.foreach(r => assertEquals(of(r.id, rows), of(r.id, batch(arriving, Seq(r))), s"${r.id} of\n$text"))
      // A rule that is new, or has changed, sees what arrives from then on.
      val late = after.filter(r => r.id == "new" || r.id == "other")
      late.foreach { r =>
        val its = rows.diff(between)
        assertEquals(of(r.id, its), of(r.id, batch(second, Seq(r))), s"${r.id} of\n$text")
      }
      // What is gone does not come back.
      assertEquals(of("gone", rows.diff(between)), of("gone", batch(Nil, before.filter(_.id == "gone"))))
      assert(kept.map(r => of(r.id, rows).length).sum > 5, text)
    }

  /** What does not depend on the other rules of a set, which decide what columns events have. */
  private def identified(rows: DataFrame): Seq[String] =
    rows
      .selectExpr("rule_id", "match_id", "key", "start", "end", "size(events)", "matches", "truncated")
      .collect()
      .toSeq
      .map(r => s"${r.getString(0)} ${r.toSeq.mkString(" ")}")
}

object RulesSuite {
  private val Fixed = Set("match_id", "start", "end", "key", "p")
}
