package sparkcer.internal.testkit

import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import org.apache.logging.log4j.{Level, LogManager}
import org.apache.logging.log4j.core.{LogEvent, Logger}
import org.apache.logging.log4j.core.appender.AbstractAppender
import org.apache.logging.log4j.core.config.Property

object Logged {

  /** What a logger says while the body runs. The level is its own if none is given. */
  def during(name: String, level: Option[Level] = None)(body: => Unit): Vector[String] = {
    val said = new ConcurrentLinkedQueue[String]
    val appender = new AbstractAppender("said", null, null, true, Property.EMPTY_ARRAY) {
      override def append(e: LogEvent): Unit = said.add(e.getMessage.getFormattedMessage): Unit
    }
    appender.start()
    val logger = LogManager.getLogger(name).asInstanceOf[Logger]
    val before = logger.getLevel
    level.foreach(logger.setLevel)
    logger.addAppender(appender)
    try body
    finally {
      logger.removeAppender(appender)
      logger.setLevel(before)
    }
    said.asScala.toVector
  }
}
