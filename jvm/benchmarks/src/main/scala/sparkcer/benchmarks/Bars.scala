package sparkcer.benchmarks

/** What the engine is held to, each as one line with the figure that decides. */
final class Bars(results: Map[String, Result], joins: collection.Map[String, Outcome]) {
  import Bars.line

  def lines: Vector[String] =
    rates ++ twins ++ homes ++ strategies ++ counts ++ enumeration ++ windows ++ comparisons ++ repetitions ++ absences

  private def of(names: String*)(f: Seq[Result] => Seq[String]): Vector[String] =
    if (names.forall(results.contains)) f(names.map(results)).toVector else Vector.empty

  private def kind(masked: Boolean): String = if (masked) "masks given" else "conditions"

  private def rates = of("S3")(r =>
    Seq(
      line("S3 update, conditions, million events/s", r.head.update(masked = false), 12, atLeast = true),
      line("S3 update, masks given, million events/s", r.head.update(masked = true), 30, atLeast = true),
      line("S3 total, conditions, million events/s", r.head.total(masked = false), 10, atLeast = true)
    )
  ) ++ of("S24")(r =>
    Seq(
      line("S24 update, conditions, million events/s", r.head.update(masked = false), 4, atLeast = true),
      line("S24 update, masks given, million events/s", r.head.update(masked = true), 15, atLeast = true)
    )
  )

  private def slower(what: String, base: Result, r: Result, bar: Double): Seq[String] =
    for (masked <- Seq(false, true))
      yield line(
        s"$what, ${kind(masked)}, times the update time",
        base.update(masked) / r.update(masked),
        bar,
        atLeast = false
      )

  private def twins = Vector("S3", "S6", "S9", "S12", "S24").flatMap(n =>
    of(n, s"$n-noend")(r => slower(s"$n-noend against $n", r(0), r(1), 1.1))
  )

  private def homes = Vector("H9", "H24").flatMap(n => of("H3", n)(r => slower(s"$n against H3", r(0), r(1), 1.5)))

  private def strategies = Vector("S3-last" -> 3.0, "S3-strict" -> 3.0, "S3-next" -> 5.0).flatMap { case (n, bar) =>
    of("S3", n)(r => slower(s"$n against S3", r(0), r(1), bar))
  }

  private def counts =
    Vector("S3", "S24").flatMap(n => of(n, s"$n-count")(r => slower(s"$n-count against $n", r(0), r(1), 2.0)))

  private def enumeration =
    of("S3")(r => Seq(line("S3, ns for a match of 3 events", r.head.nanosPerMatch, 60, atLeast = false))) ++
      Vector("S6", "S9", "S12", "S24").flatMap(n =>
        of(n)(r =>
          if (r.head.matches < 1000) Nil
          else Seq(line(s"$n, ns for an event of a match", r.head.nanosPerMatchedEvent, 20, atLeast = false))
        )
      )

  /** r(x) ; s(x, y) ; t(y): the same rate whatever the window, and what a hash join takes for the same events. */
  private def comparisons = {
    val names = Vector("500", "5000", "50000").map("C-rst-w" + _)
    of(names: _*) { r =>
      val rates = for (masked <- Seq(false, true)) yield {
        val updates = r.map(_.update(masked))
        Seq(
          line(
            s"C-rst, windows of 0.5 s to 50 s, ${kind(masked)}, slowest against fastest",
            updates.max / updates.min,
            2,
            atLeast = false
          ),
          line(s"C-rst update, ${kind(masked)}, slowest, million events/s", updates.min, 2, atLeast = true)
        )
      }
      val against = r.map { x =>
        val join = joins(x.workload.name)
        require(join.closing == x.closing, s"the join closes ${join.closing} matches, the engine ${x.closing}")
        f"      ${x.workload.name}: a plain hash join of the same events takes ${x.events * 1e3 / join.nanos}%.1f million events/s"
      }
      rates.flatten ++ against
    } ++ Vector("C-less", "C-differ").flatMap { n =>
      of(Vector("500", "5000", "50000").map(w => s"$n-w$w"): _*) { r =>
        val updates = r.map(_.update(masked = true))
        Seq(
          line(
            s"$n, windows of 0.5 s to 50 s, masks given, slowest against fastest",
            updates.max / updates.min,
            3,
            atLeast = false
          )
        )
      }
    } ++ of("T-chain")(r =>
      Seq(line("T-chain update, conditions, million events/s", r.head.update(masked = false), 2, atLeast = true))
    )
  }

  /** An optional step against the dearer of its alternatives, a condition on a count against the query without it,
    * measures, which add no state, and `A{n,}` under MAX, which may grow as n does.
    */
  private def repetitions =
    of("S3", "R-without", "R-optional") { r =>
      for (masked <- Seq(false, true)) yield {
        val dearer = math.min(r(0).update(masked), r(1).update(masked))
        line(
          s"R-optional against the dearer of S3 and R-without, ${kind(masked)}",
          dearer / r(2).update(masked),
          1.2,
          atLeast = false
        )
      }
    } ++ of("R-plus", "R-counted")(r => slower("R-counted against R-plus", r(0), r(1), 1.5)) ++
      of("R-plus", "R-measures")(r =>
        Seq(
          line(
            "R-measures, bytes of state against R-plus",
            r(1).peak.bytes.toDouble / r(0).peak.bytes,
            1,
            atLeast = false
          )
        )
      ) ++
      Vector(("R-max5", "R-max10", 2.0), ("R-max10", "R-max20", 2.0), ("R-max20", "R-max40", 2.0)).flatMap {
        case (n, twice, bar) => of(n, twice)(r => slower(s"$twice against $n", r(0), r(1), bar))
      }

  /** An event that must not come between two, alone and compared with the first of them, against the queries without
    * it. In N-two it is compared by another column than the last event, so that partial matches differ in two values.
    * An event that must not come after another one, against waiting for it, and the same with longer and longer waits.
    * An event that must not have come before two others, against the two.
    */
  private def absences =
    of("R-without", "N-between")(r => slower("N-between against R-without", r(0), r(1), 1.1)) ++
      of("N-pairs", "N-compared")(r => slower("N-compared against N-pairs", r(0), r(1), 3)) ++
      of("N-pairs", "N-two")(r => slower("N-two against N-pairs", r(0), r(1), 3)) ++
      of("R-without", "N-after-30000")(r => slower("N-after-30000 against R-without", r(0), r(1), 1.5)) ++
      of("R-without", "N-before")(r => slower("N-before against R-without", r(0), r(1), 1.3)) ++
      of("N-pairs", "N-after-two")(r => slower("N-after-two against N-pairs", r(0), r(1), 3)) ++
      Vector("N-after", "N-pending").flatMap { n =>
        of(Vector("1000", "30000", "1000000").map(w => s"$n-$w"): _*) { r =>
          val rates = r.map(_.update(masked = true))
          Seq(line(s"$n, waiting 1 s to 1,000 s, slowest against fastest", rates.max / rates.min, 1.5, atLeast = false))
        }
      }

  private def windows = {
    val names = Vector("1000", "10000", "30000", "100000", "1000000").map("S3-noend-w" + _)
    of(names: _*) { r =>
      val rates = r.map(_.update(masked = true))
      line(
        "S3-noend, windows of 1 s to 1,000 s, slowest against fastest",
        rates.max / rates.min,
        1.3,
        atLeast = false
      ) +:
        r.map(x =>
          line(
            s"${x.workload.name}, nodes in the second half of the stream against the first",
            x.peak.secondHalf.toDouble / x.peak.firstHalf,
            1.25,
            atLeast = false
          )
        )
    }
  }
}

object Bars {
  def line(what: String, figure: Double, bar: Double, atLeast: Boolean): String = {
    val verdict = if (if (atLeast) figure >= bar else figure <= bar) "PASS" else "MISS"
    f"$verdict  $what%-66s $figure%8.2f  (${if (atLeast) "at least" else "at most"} $bar%.2f)"
  }
}
