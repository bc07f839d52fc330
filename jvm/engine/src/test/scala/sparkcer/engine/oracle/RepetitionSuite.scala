package sparkcer.engine.oracle

import sparkcer.engine.testkit.Repetitions

/** Quantifiers, sub-windows and conditions on repetitions. */
class RepetitionSuite extends EveryStrategy(Repetitions.constructs) {
  law("A{2,3}", "(A ; A) OR (A ; A ; A)")
  law("A:{2}", "A : A")
  law("A:{2,3}", "(A : A) OR (A : A : A)")
  law("A{1,}", "A+")
  law("A:{1,}", "A:+")
  law("B ; (A?){2}", "B ; A{0,2}")
  law("B ; A{,2}", "B ; A{0,2}")
  law("B ; A*", "B OR (B ; A+)")
  law("A? ; B", "B OR (A ; B)")
  law("A ; B? ; A", "(A ; A) OR (A ; B ; A)")
  law("A : B? : A", "(A : A) OR (A : B : A)")
  law("A ; (B? ; C?)", "A OR (A ; B) OR (A ; C) OR (A ; B ; C)")
  law("A ALL B?", "A OR (A ALL B)")
  law("((A ; B) WITHIN 100 [t]) ; C", "((A ; B) FILTER A[t IS NOT NULL] AND B[t IS NOT NULL]) ; C")
  law("(A+ AS x) FILTER count(x) >= 3", "A{3,} AS x")
  law("(A+ AS x) FILTER count(x) BETWEEN 2 AND 3", "A{2,3} AS x")
  law("(A+ AS x) FILTER count(x) = 2", "A{2} AS x")
  law("(A* AS x ; B) FILTER count(x) = 0", "(A AS x FILTER x[p = 0 AND p = 1]) OR B")
  law("(A+ AS x) FILTER min(x.p) > 0", "(A+ AS x) FILTER SOME x[p IS NOT NULL] AND x[p IS NULL OR p > 0]")
  law("(A+ AS x) FILTER max(x.p) > 0", "(A+ AS x) FILTER SOME x[p > 0]")
  law("(A AS x) FILTER first(x)[p = 1]", "(A AS x) FILTER x[p = 1]")
  law("(A AS x ; B AS y) FILTER first(x).p = last(y).p", "(A AS x ; B AS y) FILTER x.p = y.p")
  law("((A ; B)+ AS x) FILTER first(x)[p = 1]", "((A FILTER A[p = 1]) ; B ; (A ; B)*) AS x")
}
