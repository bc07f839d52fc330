package sparkcer.engine.oracle

import org.scalacheck.{Arbitrary, Gen, Prop}
import org.scalacheck.Prop.{forAll, propBoolean}

import sparkcer.engine.automaton.Multiplicity
import sparkcer.engine.evaluate.Program
import sparkcer.engine.testkit._
import sparkcer.engine.testkit.Generators.{comparingCase, plainCase, repeatingCase}

/** A column's multiplicity decides its type in the output, so no match may bind more or less than it says. */
class MultiplicitySuite extends Properties {
  override def cases: Int = 2000
  implicit private val arbitrary: Arbitrary[Case] = Arbitrary(Gen.oneOf(plainCase, comparingCase, repeatingCase))

  private def allows(m: Multiplicity, events: Int): Boolean =
    (!m.atLeastOne || events >= 1) && (!m.atMostOne || events <= 1)

  property("no match binds more or less than its columns allow") {
    forAll { (c: Case) =>
      val all = for (program <- c.program; matches <- c.expected) yield Prop.all(program.columns.map { column =>
        val wrong =
          matches.filterNot(m => allows(column.multiplicity, m.bound.getOrElse(column.variable, Set.empty).size))
        wrong.isEmpty :| s"${column.variable} is ${column.multiplicity}, but ${Match.show(wrong)}"
      }: _*)
      all.getOrElse(Prop.undecided)
    }
  }

  property("the columns are the selected variables") {
    forAll { (c: Case) =>
      c.program.fold(Prop.undecided) { program =>
        val columns = program.columns.map(_.variable)
        (columns.toSet == Oracle.selected(c.query)) :| columns.mkString(", ")
      }
    }
  }

  private def multiplicities(where: String): String =
    Program(s"SELECT * FROM S WHERE $where").columns.map(c => s"${c.variable} ${c.multiplicity}").mkString(", ")

  test("one, optional and many") {
    assertEquals(multiplicities("A AS x ; B AS y"), "x one, y one")
    assertEquals(multiplicities("A AS x OR B AS y"), "x optional, y optional")
    assertEquals(multiplicities("(A OR B) AS x"), "x one")
    assertEquals(multiplicities("A+"), "A many")
    assertEquals(multiplicities("A ; A"), "A many")
    assertEquals(multiplicities("(A AS x OR B AS y)+ ; C"), "x many, y many, C one")
    assertEquals(multiplicities("A:+ ; (B OR C) AS y"), "A many, y one")
    assertEquals(multiplicities("A ; NOT(B) AS x"), "A one, x optional")
  }
}
