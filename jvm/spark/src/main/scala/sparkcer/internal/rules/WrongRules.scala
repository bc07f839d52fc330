package sparkcer.internal.rules

import scala.collection.mutable

import org.apache.spark.sql.AnalysisException

import sparkcer.Cer

/** Collects the errors of rules, so that all wrong rules of a set are named at once. */
final private[rules] class WrongRules {
  private val found = mutable.ArrayBuffer.empty[(String, String)]

  /** What a function makes of each rule that is right. */
  def of[A, B](some: Vector[A])(id: A => String)(f: A => B): Vector[B] = some.flatMap { a =>
    try Some(Cer.inWords(f(a)))
    catch {
      case e: AnalysisException =>
        found += id(a) -> e.getMessage
        None
    }
  }

  def nonEmpty: Boolean = found.nonEmpty

  /** Of the message that lists them.
    *
    * @param all
    *   how many rules there are
    */
  def parameters(all: Int): Seq[(String, String)] = Seq(
    "wrong" -> found.length.toString,
    "all" -> all.toString,
    "errors" -> found.map { case (id, message) => s"Rule '$id': $message" }.mkString("\n\n")
  )
}
