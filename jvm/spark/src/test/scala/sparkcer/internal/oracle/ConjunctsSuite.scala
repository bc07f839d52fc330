package sparkcer.internal.oracle

import org.apache.spark.sql.catalyst.expressions.{And, Expression}
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.scalacheck.Gen
import org.scalacheck.Prop.{forAll, propBoolean}

import sparkcer.engine.ceql.Conjuncts
import sparkcer.engine.testkit.Properties

/** Conditions come apart in the text where Spark's own parser has an AND. */
class ConjunctsSuite extends Properties {
  override def cases: Int = 60 // Spark's parser needs a while for a CASE in a CASE

  private def bySpark(e: Expression): Vector[Expression] = e match {
    case And(left, right) => bySpark(left) ++ bySpark(right)
    case other            => Vector(other)
  }

  private def agrees(sql: String): Boolean =
    Conjuncts(sql).map(CatalystSqlParser.parseExpression) == bySpark(CatalystSqlParser.parseExpression(sql))

  private val leaf: Gen[String] = Gen.oneOf(
    "v > 60",
    "v > PREV.v",
    "s = 'a AND b'",
    "\"OR\" = s",
    "`a AND b`",
    "v IS NOT NULL",
    "v BETWEEN 1 AND 2",
    "v NOT BETWEEN (1) AND f(a AND b)",
    "s LIKE 'x%' ESCAPE '!'",
    "a IS NOT DISTINCT FROM b",
    "v IN (1, 2)",
    "exists(l, e -> e > 1 AND e < .5)",
    "m['and'] > 1.",
    "case = 1",
    "s.and <> s.between",
    "interval '1' day > d",
    "(v, w) = (1, 2)"
  )

  private def condition(size: Int): Gen[String] =
    if (size == 0) leaf
    else {
      def inside = condition(size - 1)
      Gen.frequency(
        2 -> leaf,
        4 -> Gen
          .zip(inside, Gen.oneOf(" AND ", " and ", "\nAND\t", " /* OR */ AND -- AND\n"), inside)
          .map(t => t._1 + t._2 + t._3),
        1 -> Gen.zip(inside, inside).map { case (a, b) => s"$a OR $b" },
        3 -> Gen.lzy(inside).map(a => s"($a)"),
        1 -> Gen.lzy(inside).map(a => s"NOT ($a)"),
        1 -> Gen.lzy(inside).map(a => s"NOT $a"),
        1 -> Gen.zip(inside, inside, inside).map { case (a, b, c) => s"CASE WHEN $a THEN $b ELSE $c END" },
        1 -> Gen.zip(inside, inside).map { case (a, b) => s"CASE ($a) WHEN true THEN $b END = true" }
      )
    }

  property("random conditions") {
    forAll(Gen.choose(0, 4).flatMap(condition))(sql => agrees(sql) :| sql)
  }
}
