package sparkcer.benchmarks

import scala.collection.mutable

import sparkcer.engine.ceql.{Quantity, Window}

/** Plain hash joins of the workloads that are one. */
object Yardsticks {
  private val known = mutable.Map.empty[(String, Int), Option[HashJoin]]

  def of(w: Workload, events: Int): Option[HashJoin] = known.getOrElseUpdate(
    (w.name, events),
    w.program.toOption.flatMap { p =>
      p.query.within match {
        case Some(Window.Attribute(Quantity.Number(n), _)) if w.name.startsWith("C-rst") =>
          Some(new HashJoin(Streams(w.stream, events), n.toLong))
        case _ => None
      }
    }
  )
}
