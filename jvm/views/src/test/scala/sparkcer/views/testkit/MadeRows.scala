package sparkcer.views.testkit

import java.sql.Timestamp

import scala.util.Random

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.StructType

/** Random measurements. Some groups and some values are NULL, and some groups are idle for long and come back. */
object MadeRows {
  val Schema: StructType =
    StructType.fromDDL("t TIMESTAMP, g STRING, h INT, loss INT, big BIGINT, d DOUBLE, dec DECIMAL(10,2)")

  val Length = 60L

  /** Parts from `First` on.
    *
    * @param most
    *   the largest number of rows of a group in a part
    * @param idle
    *   the probability that a group is idle after a part
    */
  def parts(rng: Random, parts: Int, most: Int, idle: Double = 0.2): Map[Long, Seq[Row]] = {
    val groups = for (g <- Seq("a", "b", null); h <- Seq(1, 2)) yield (g, h)
    var pauses = Map.empty[(String, Int), Int]
    (First until First + parts).map { part =>
      part -> groups.flatMap { group =>
        if (pauses.getOrElse(group, 0) > 0) {
          pauses += group -> (pauses(group) - 1)
          Nil
        } else {
          if (rng.nextDouble() < idle) pauses += group -> rng.nextInt(9)
          Seq.fill(if (most == 1) 1 else rng.nextInt(most + 1))(row(rng, part, group._1, group._2))
        }
      }
    }.toMap
  }

  val First = 23667840L

  def row(rng: Random, part: Long, g: String, h: Int): Row = {
    def orNull(value: Any) = if (rng.nextInt(8) == 0) null else value
    Row(
      new Timestamp((part * Length + rng.nextInt(60)) * 1000),
      g,
      h,
      orNull(rng.nextInt(25)),
      orNull(Long.MaxValue / 40 + rng.nextInt(100)),
      orNull(rng.nextInt(1000) / 8.0),
      orNull(new java.math.BigDecimal(rng.nextInt(100000)).movePointLeft(2))
    )
  }
}
