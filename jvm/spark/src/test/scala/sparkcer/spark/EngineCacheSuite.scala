package sparkcer.spark

import java.util.UUID

import org.apache.spark.sql.types._

class EngineCacheSuite extends munit.FunSuite {
  private val plan = Plan(
    "SELECT * FROM S WHERE A ; B WITHIN 10 [t]",
    MatchSchema(new StructType, LongType, new StructType, Vector.empty, counts = false),
    Clock(LongType),
    Clock(LongType),
    Some(BigDecimal(10)),
    windowIsTime = true,
    maxMatchesPerEvent = 10,
    delay = None,
    inputs = 1,
    chained = false,
    idle = None,
    lateRows = false,
    ordering = "by t",
    operator = "o",
    metrics = "m"
  )
  private val key = EngineCache.Key(new UUID(1, 2), "o", 0)

  private def bucket(head: LogHead): Bucket = {
    val b = new Bucket(plan)
    b.head = head
    b
  }

  override def beforeEach(context: BeforeEach): Unit = EngineCache.clear()

  test("retries, speculative twins and zombies never see each other's engine") {
    val committed = LogHead(3, 77)
    val mine = bucket(committed)
    EngineCache.put(key, mine, 1 << 20)
    // The first attempt takes it; a twin that starts meanwhile finds nothing and loads from the store.
    assertEquals(EngineCache.take(key, committed), Some(mine))
    assertEquals(EngineCache.take(key, committed), None)
    // The attempt writes piece 4 and puts its engine back, but another attempt's piece 4 is the one that commits.
    mine.head = LogHead(4, 1)
    EngineCache.put(key, mine, 1 << 20)
    assertEquals(EngineCache.take(key, LogHead(4, 2)), None)
    // What was found out is gone for good.
    assertEquals(EngineCache.take(key, LogHead(4, 1)), None)
    // Nor does an engine go from one run, operator or bucket to another.
    EngineCache.put(key, mine, 1 << 20)
    assertEquals(EngineCache.take(key.copy(run = new UUID(1, 3)), mine.head), None)
    assertEquals(EngineCache.take(key.copy(operator = "p"), mine.head), None)
    assertEquals(EngineCache.take(key.copy(bucket = 1), mine.head), None)
  }

  test("the engines used longest ago make room") {
    val limit = 3 * bucket(LogHead.Empty).bytes
    (0 until 5).foreach(i => EngineCache.put(key.copy(bucket = i), bucket(LogHead(i.toLong, 0)), limit))
    assertEquals(EngineCache.size, 3)
    assert(EngineCache.bytes <= limit)
    assertEquals(EngineCache.take(key.copy(bucket = 1), LogHead(1, 0)), None)
    assert(EngineCache.take(key.copy(bucket = 4), LogHead(4, 0)).isDefined)
  }
}
