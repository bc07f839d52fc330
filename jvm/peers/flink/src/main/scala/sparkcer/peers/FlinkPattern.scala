package sparkcer.peers

import java.time.Duration

import org.apache.flink.cep.nfa.aftermatch.AfterMatchSkipStrategy
import org.apache.flink.cep.pattern.Pattern
import org.apache.flink.cep.pattern.conditions.{IterativeCondition, SimpleCondition}

/** A pattern of Flink CEP, which has no text of its own, from lines that name the methods to call:
  * {{{
  * by key
  * begin T1 kind=SELL name=INTC
  * followedByAny T2 kind=BUY name=RIMM oneOrMore allowCombinations
  * notFollowedBy N3 kind=BUY name=QQQ
  * followedBy T3 kind=BUY x=T1.x volume>2500
  * within 30001
  * skipPastLastEvent
  * }}}
  */
final case class FlinkPattern(by: String, pattern: Pattern[Event, _])

object FlinkPattern {
  def read(text: String): FlinkPattern = {
    val lines = text.linesIterator.map(_.trim.split("\\s+").toList).filter(_.head.nonEmpty).toVector
    val skip =
      if (lines.contains(List("skipPastLastEvent"))) AfterMatchSkipStrategy.skipPastLastEvent()
      else AfterMatchSkipStrategy.noSkip()
    var by = ""
    var pattern: Pattern[Event, Event] = null
    lines.foreach {
      case List("by", column)          => by = column
      case List("skipPastLastEvent")   => ()
      case List("within", millis)      => pattern = pattern.within(Duration.ofMillis(millis.toLong))
      case "begin" :: name :: rest     => pattern = take(Pattern.begin[Event](name, skip), rest)
      case contiguity :: name :: words =>
        val step = contiguity match {
          case "next"          => pattern.next(name)
          case "followedBy"    => pattern.followedBy(name)
          case "followedByAny" => pattern.followedByAny(name)
          case "notFollowedBy" => pattern.notFollowedBy(name)
          case other           => throw new IllegalArgumentException(s"a pattern has no $other")
        }
        pattern = take(step, words)
      case other => throw new IllegalArgumentException(s"a pattern has no line ${other.mkString(" ")}")
    }
    FlinkPattern(by, pattern)
  }

  private def take(step: Pattern[Event, Event], words: List[String]): Pattern[Event, Event] =
    words.foldLeft(step) { (p, word) =>
      word match {
        case "oneOrMore"                => p.oneOrMore()
        case "allowCombinations"        => p.allowCombinations()
        case Times(least, most)         => p.times(least.toInt, most.toInt)
        case Earlier(column, step, its) => p.where(new SameValue(column, step, its))
        case Equal(column, value)       => p.where(new Equals(column, value))
        case Over(column, value)        => p.where(new Exceeds(column, value.toLong))
        case other                      => throw new IllegalArgumentException(s"a step has no $other")
      }
    }

  private val Times = """times\((\d+),(\d+)\)""".r
  private val Earlier = """(\w+)=(\w+)\.(\w+)""".r
  private val Equal = """(\w+)=(\w+)""".r
  private val Over = """(\w+)>(\d+)""".r

  def value(e: Event, column: String): String = if (column == "x") e.x else e.y
}

final class Equals(column: String, constant: String) extends SimpleCondition[Event] {
  private val isKind = column == "kind"
  override def filter(e: Event): Boolean = if (isKind) e.kind == constant else e.name == constant
}

final class Exceeds(column: String, least: Long) extends SimpleCondition[Event] {
  require(column == "volume")
  override def filter(e: Event): Boolean = e.volume > least
}

final class SameValue(column: String, step: String, its: String) extends IterativeCondition[Event] {
  override def filter(e: Event, context: IterativeCondition.Context[Event]): Boolean = {
    val mine = FlinkPattern.value(e, column)
    val all = context.getEventsForPattern(step).iterator()
    mine != null && all.hasNext && mine == FlinkPattern.value(all.next(), its)
  }
}
