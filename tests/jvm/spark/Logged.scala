package io.sparklatency.spark

import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import org.apache.logging.log4j.Level
import org.apache.logging.log4j.LogManager
import org.apache.logging.log4j.core.LogEvent
import org.apache.logging.log4j.core.Logger
import org.apache.logging.log4j.core.appender.AbstractAppender
import org.apache.logging.log4j.core.config.Configurator
import org.apache.logging.log4j.core.config.Property

/** What is logged by all threads while a test does something. */
object Logged {

  /** Warnings and errors. */
  def during(body: => Unit): Seq[String] = from(Level.WARN)(body).map { case (_, message) => message }

  /** From a level up, each line with its own level. */
  def from(least: Level)(body: => Unit): Seq[(Level, String)] = {
    val messages = new ConcurrentLinkedQueue[(Level, String)]
    val appender = new AbstractAppender("test", null, null, true, Property.EMPTY_ARRAY) {
      override def append(event: LogEvent): Unit =
        messages.add(event.getLevel -> event.getMessage.getFormattedMessage): Unit
    }
    appender.start()
    val root = LogManager.getRootLogger.asInstanceOf[Logger]
    val level = root.getLevel
    Configurator.setRootLevel(least)
    root.addAppender(appender)
    try body
    finally {
      root.removeAppender(appender)
      Configurator.setRootLevel(level)
    }
    messages.asScala.toSeq
  }
}
