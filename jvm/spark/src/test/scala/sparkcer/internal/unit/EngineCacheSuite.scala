package sparkcer.internal.unit

import java.util.UUID

import org.apache.spark.sql.types._

import sparkcer.internal.bind.{Clock, Plan, PlannedQuery, PlannedStream, PlannedWindow, StateMeaning}
import sparkcer.internal.output.MatchSchema
import sparkcer.internal.stream.{Bucket, EngineCache, FirstFormat, LogHead}

class EngineCacheSuite extends munit.FunSuite {
  private val plan = Plan(
    PlannedQuery("SELECT * FROM S WHERE A ; B WITHIN 10 [t]"),
    MatchSchema(new StructType, LongType, new StructType, Vector.empty, counts = false),
    Clock(LongType),
    PlannedWindow(Clock(LongType), Some(BigDecimal(10)), ofTime = true),
    maxMatchesPerEvent = 10,
    PlannedStream(
      watermark = None,
      idle = None,
      lateRows = false,
      snapshots = false,
      operator = "o",
      metrics = "m",
      StateMeaning("by t", "no type column", "d", FirstFormat("no type column", compiledAsNow = true))
    )
  )
  private val key = EngineCache.Key(new UUID(1, 2), "o", 0)

  private def bucket(head: LogHead): Bucket = {
    val b = new Bucket(plan)
    b.head = head
    b
  }

  private var cache: EngineCache = _
  override def beforeEach(context: BeforeEach): Unit = cache = new EngineCache(idleMillis = 600000)

  test("retries, speculative twins and zombies never see each other's engine") {
    val committed = LogHead(3, 77)
    val mine = bucket(committed)
    cache.put(key, mine, 1 << 20)
    // The first attempt takes it; a twin that starts meanwhile finds nothing and loads from the store.
    assertEquals(cache.take(key, committed), Some(mine))
    assertEquals(cache.take(key, committed), None)
    // The attempt writes piece 4 and puts its engine back, but another attempt's piece 4 is the one that commits.
    mine.head = LogHead(4, 1)
    cache.put(key, mine, 1 << 20)
    assertEquals(cache.take(key, LogHead(4, 2)), None)
    // What was found out is gone for good.
    assertEquals(cache.take(key, LogHead(4, 1)), None)
    // Nor does an engine go from one run, operator or bucket to another.
    cache.put(key, mine, 1 << 20)
    assertEquals(cache.take(key.copy(run = new UUID(1, 3)), mine.head), None)
    assertEquals(cache.take(key.copy(operator = "p"), mine.head), None)
    assertEquals(cache.take(key.copy(bucket = 1), mine.head), None)
  }

  test("the engines used longest ago make room") {
    val limit = 3 * bucket(LogHead.Empty).bytes
    (0 until 5).foreach(i => cache.put(key.copy(bucket = i), bucket(LogHead(i.toLong, 0)), limit))
    assertEquals(cache.size, 3)
    assert(cache.bytes <= limit)
    assertEquals(cache.take(key.copy(bucket = 1), LogHead(1, 0)), None)
    assert(cache.take(key.copy(bucket = 4), LogHead(4, 0)).isDefined)
  }

  test("the engines of a run go when it ends") {
    val other = key.copy(run = new UUID(1, 3))
    Seq(key, key.copy(bucket = 1), other).foreach(k => cache.put(k, bucket(LogHead.Empty), 1 << 20))
    cache.drop(key.run)
    assertEquals(cache.runs, Set(other.run))
    assertEquals(cache.bytes, bucket(LogHead.Empty).bytes)
  }

  test("engines that nobody asks for leave, and the others stay") {
    var now = 0L
    val brief = new EngineCache(idleMillis = 300, () => now * 1000000)
    val used = key.copy(bucket = 1)
    Seq(key, used).foreach(brief.put(_, bucket(LogHead.Empty), 1 << 20))
    now = 200
    brief.put(used, brief.take(used, LogHead.Empty).get, 1 << 20)
    brief.sweep()
    assertEquals(brief.size, 2)
    now = 400
    brief.sweep()
    assertEquals((brief.take(key, LogHead.Empty), brief.size), (None, 1))
  }

  test("the limit is the session's, or a quarter of the heap of whoever asks") {
    assertEquals(EngineCache.limit(Some(7L)), 7L)
    assertEquals(EngineCache.limit(None), Runtime.getRuntime.maxMemory / 4)
  }
}
