package sparkcer.engine.oracle

import java.nio.file.{Files, Path, Paths}

import scala.jdk.CollectionConverters._

import sparkcer.engine.ceql.CeqlException
import sparkcer.engine.evaluate.Program
import sparkcer.engine.testkit._

/** Every file of `resources/golden`: cases of a title, a query, events and the matches they must give, in the notation
  * of [[testkit.Event]] and [[testkit.Match]].
  *
  * {{{
  * # title, and why
  * SELECT * FROM S WHERE A ; B
  * > A B
  * [0,1] A={0} B={1}
  * }}}
  *
  * `# …` before a query is its title; more than one stream (`> …`, perhaps over several lines) may follow one query,
  * each with its matches, or `no match`. A query that is refused has its message behind `!`. The engine and the
  * definition are both held to the file. `CER_REGENERATE=1` writes what the engine finds into it, to be read before it
  * is committed.
  */
class GoldenSuite extends munit.FunSuite {
  private val regenerate = sys.env.get("CER_REGENERATE").contains("1")

  private val folder: Path = {
    val here = Paths.get("src/test/resources/golden")
    if (Files.isDirectory(here)) here else Paths.get("jvm/engine").resolve(here)
  }

  private val files = Files.list(folder).iterator.asScala.filter(_.toString.endsWith(".txt")).toVector.sorted

  files.foreach { file =>
    val blocks = GoldenSuite.blocks(Files.readString(file))
    if (regenerate)
      test(s"written: ${file.getFileName}") {
        val text = blocks.map(b => b.copy(runs = b.runs.map(actual(b, _))).show).mkString("\n")
        Files.writeString(file, text): Unit
      }
    else
      blocks.foreach { block =>
        test(s"${file.getFileName.toString.stripSuffix(".txt")}: ${block.title}") {
          block.runs.foreach { run =>
            assertEquals(actual(block, run).expected, run.expected, run.events)
            if (!run.expected.exists(_.startsWith("!")))
              assertEquals(byDefinition(block, run), run.expected, "by definition")
          }
        }
      }
  }

  private def actual(block: GoldenSuite.Block, run: GoldenSuite.Run): GoldenSuite.Run = {
    val lines =
      try GoldenSuite.lines(Harness.run(Program(block.query), Event.stream(run.events)))
      catch { case e: CeqlException => e.getMessage.linesIterator.map("! " + _).toVector }
    run.copy(expected = lines)
  }

  private def byDefinition(block: GoldenSuite.Block, run: GoldenSuite.Run): Vector[String] =
    GoldenSuite.lines(Oracle.matches(Program(block.query).query, Event.stream(run.events)))
}

object GoldenSuite {
  private def lines(matches: Set[Match]): Vector[String] =
    if (matches.isEmpty) Vector("no match") else Match.show(matches)

  final case class Run(events: String, expected: Vector[String]) {
    def show: String = {
      val stream = if (events.isEmpty) Vector(">") else events.linesIterator.map("> " + _).toVector
      (stream ++ expected).map(_ + "\n").mkString
    }
  }

  final case class Block(comment: Vector[String], query: String, runs: Vector[Run]) {
    def title: String = comment.headOption.fold(query)(_.stripPrefix("#").trim)
    def show: String = comment.map(_ + "\n").mkString + query + "\n" + runs.map(_.show).mkString
  }

  /** The blocks of a file, which empty lines divide. */
  def blocks(text: String): Vector[Block] =
    text.split("\n\\s*\n").toVector.map(_.linesIterator.toVector.filter(_.nonEmpty)).filter(_.nonEmpty).map { lines =>
      val (comment, rest) = lines.span(_.startsWith("#"))
      val (query, results) = rest.span(!_.startsWith(">"))
      Block(comment, query.mkString("\n"), runs(results))
    }

  private def runs(lines: Vector[String]): Vector[Run] =
    if (lines.isEmpty) Vector.empty
    else {
      val (events, rest) = lines.span(_.startsWith(">"))
      val (expected, more) = rest.span(!_.startsWith(">"))
      Run(events.map(_.drop(1).trim).mkString("\n"), expected) +: runs(more)
    }
}
