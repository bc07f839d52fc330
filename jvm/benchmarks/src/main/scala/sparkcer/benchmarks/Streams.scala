package sparkcer.benchmarks

import java.util.Random

import sparkcer.benchmarks.Events.{Doubles, Integers, Strings}

/** Deterministic synthetic streams, shaped like those of the CORE paper (stocks, smart homes, taxi trips) and of the
  * join r(x), s(x, y), t(y).
  */
object Streams {
  val Seed = 1L
  private val Keys = 290

  /** Half past nine, in milliseconds. */
  private val Start = 34200000L
  private val Keyed = """keys-(\d+)""".r

  def apply(name: String, events: Int, seed: Long = Seed): Events = {
    val rng = new Random(seed)
    name match {
      case "stocks"     => stocks(events, rng)
      case "homes"      => homes(events, rng)
      case "taxis"      => taxis(events, rng)
      case "correlated" => correlated(events, rng)
      case Keyed(keys)  => keyed(events, keys.toInt, rng)
      case other        => throw new IllegalArgumentException(s"there is no stream $other")
    }
  }

  private val Named = Vector("INTC", "RIMM", "QQQ", "IPIX", "AMAT", "CSCO", "YHOO", "DELL", "ORCL", "MSFT")
  private val Zones = Vector(
    "East Harlem North",
    "Midwood",
    "Gravesend",
    "West Brighton",
    "Canarsie",
    "Astoria",
    "Flatbush",
    "Bushwick",
    "Chelsea",
    "Harlem",
    "SoHo",
    "Tribeca"
  )

  /** About 10 events a second; each of ten names takes 5 % of them, and 290 others share the rest. */
  private def stocks(n: Int, rng: Random): Events = {
    val names = Named ++ Vector.tabulate(Keys)(i => f"N$i%03d")
    val weights = Named.map(_ => 4.0) ++ Vector.fill(Keys)(40.0 / Keys)
    val upTo = weights.scanLeft(0.0)(_ + _).tail.toArray
    val prices = Array.tabulate(names.length)(i => 10.0 + 3 * i % 40)
    val (kind, name) = (new Array[String](n), new Array[String](n))
    val (volume, time) = (new Array[Long](n), new Array[Long](n))
    val price = new Array[Double](n)
    var now = Start
    for (i <- 0 until n) {
      val found = java.util.Arrays.binarySearch(upTo, rng.nextDouble() * upTo.last)
      val k = math.min(names.length - 1, if (found < 0) -found - 1 else found)
      prices(k) = math.max(1.0, math.round((prices(k) + rng.nextGaussian() * 0.05) * 100) / 100.0)
      now += (-100 * math.log(1 - rng.nextDouble())).toLong
      kind(i) = if (rng.nextBoolean()) "BUY" else "SELL"
      name(i) = names(k)
      volume(i) = (1 + rng.nextInt(50)) * 100L
      price(i) = prices(k)
      time(i) = now
    }
    new Events(
      Vector("type", "id", "name", "volume", "price", "stock_time"),
      n,
      Vector(Strings(kind), numbers(n)(_.toLong), Strings(name), Integers(volume), Doubles(price), Integers(time))
    )
  }

  /** 200 events a second from 16 households. */
  private def homes(n: Int, rng: Random): Events = new Events(
    Vector("type", "id", "plug_timestamp", "value", "plug_id", "household_id"),
    n,
    Vector(
      Strings(Array.fill(n)("LOAD")),
      numbers(n)(_.toLong),
      numbers(n)(1377986401L + _ / 200),
      Doubles(Array.fill(n)(math.round(math.min(400.0, math.exp(3.2 + rng.nextGaussian())) * 1000) / 1000.0)),
      numbers(n)(_ => rng.nextInt(12).toLong),
      numbers(n)(_ => rng.nextInt(16).toLong)
    )
  )

  private def taxis(n: Int, rng: Random): Events = {
    def cents(from: Double, to: Double): Double = math.round((from + rng.nextDouble() * (to - from)) * 100) / 100.0
    new Events(
      Vector(
        "type",
        "id",
        "medallion",
        "pickup_zone",
        "dropoff_zone",
        "trip_distance",
        "total_amount",
        "pickup_datetime"
      ),
      n,
      Vector(
        Strings(Array.fill(n)("TRIP")),
        numbers(n)(_.toLong),
        Strings(Array.fill(n)(f"M${rng.nextInt(Keys)}%05d")),
        Strings(Array.fill(n)(Zones(rng.nextInt(Zones.length)))),
        Strings(Array.fill(n)(Zones(rng.nextInt(Zones.length)))),
        Doubles(Array.fill(n)(cents(0.3, 18))),
        Doubles(Array.fill(n)(cents(4, 90))),
        numbers(n)(1357000000L + _ / 6)
      )
    )
  }

  /** x is NULL in T, y in R. One event a millisecond. */
  private def correlated(n: Int, rng: Random): Events = {
    val kind = Array.fill(n)("RST".charAt(rng.nextInt(3)).toString)
    def value(absentIn: String) = Strings(kind.map(k => if (k == absentIn) null else rng.nextInt(Keys).toString))
    new Events(Vector("type", "x", "y", "ts"), n, Vector(Strings(kind), value("T"), value("R"), numbers(n)(_.toLong)))
  }

  /** A, B and C of so many keys. A single key has 10 events a second, many together have 1,000. */
  private def keyed(n: Int, keys: Int, rng: Random): Events = {
    val millis = if (keys == 1) 100L else 1L
    val kind = Array.fill(n)("ABC".charAt(rng.nextInt(3)).toString)
    new Events(
      Vector("type", "key", "ts"),
      n,
      Vector(Strings(kind), numbers(n)(_ => rng.nextInt(keys).toLong), numbers(n)(Start + _ * millis))
    )
  }

  private def numbers(n: Int)(f: Int => Long): Integers = Integers(Array.tabulate(n)(f))
}
