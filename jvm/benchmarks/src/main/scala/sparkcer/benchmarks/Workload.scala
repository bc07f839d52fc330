package sparkcer.benchmarks

import scala.io.Source

import sparkcer.engine.ceql.CeqlException
import sparkcer.engine.evaluate.Program

/** A query of `workloads.tsv` and the stream it runs over. */
final case class Workload(name: String, stream: String, group: String, query: String) {

  /** The program, or why the engine cannot run it. */
  def program: Either[String, Program] =
    try Right(Program(query))
    catch { case e: CeqlException => Left(s"the engine does not take it: ${e.getMessage.linesIterator.next()}") }
}

object Workload {
  lazy val all: Vector[Workload] = {
    val in = Source.fromResource("sparkcer/benchmarks/workloads.tsv")
    try
      in.getLines()
        .filterNot(_.startsWith("#"))
        .map(_.split('\t'))
        .collect { case Array(name, stream, group, query) => Workload(name, stream, group, query) }
        .toVector
    finally in.close()
  }

  def apply(name: String): Workload = all.find(_.name == name).getOrElse(sys.error(s"there is no workload $name"))
}
