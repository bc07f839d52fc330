package sparkcer.engine.oracle

import sparkcer.engine.testkit.Absences

/** Events that must not come between two parts, or among all that a match passes over. */
class AbsenceSuite extends EveryStrategy(Absences.constructs) {
  law("A ; NO Z ; B", "A ; B") // no Z ever comes
  law("A ; NO B ; C", "(A : NOT(B):+ : C) OR (A : C)")
  law("A ; NO (B OR C) ; A", "(A : NOT(B OR C):+ : A) OR (A : A)")
  law("A ; NO (B FILTER B[p > 0]) ; A", "(A : NOT(B FILTER B[p > 0]):+ : A) OR (A : A)")
  law("A ; NO (B OR C) ; A", "(A ; A) WITHOUT (B OR C)")
  law("A ; NO B ; A ; NO B ; C", "(A ; A ; C) WITHOUT B")
  law("(A ; B) WITHOUT B", "A ; NO B ; B")
  law("(A WITHOUT B) ; C", "A ; C")
  law("(A ; B) WITHOUT B WITHOUT C", "(A ; B) WITHOUT (B OR C)")
  law("A AS x ; NO (B AS n FILTER n.p = x.p) ; C", "(A AS x ; C) WITHOUT (B AS n FILTER n.p = x.p)")
}
