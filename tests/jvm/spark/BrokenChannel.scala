package org.apache.spark.sql.latency

import java.util.concurrent.atomic.AtomicInteger

import io.sparklatency.figures.PublishedPart
import org.apache.spark.sql.latency.application.LatencyApplication
import org.apache.spark.sql.latency.recording.PublishedMessage
import org.apache.spark.sql.latency.recording.ReportMessage
import org.apache.spark.sql.latency.recording.RunningTasks

/** What may go wrong between an executor and the driver. In Spark's package for what only ours may call. */
object BrokenChannel {
  private val failed = new AtomicInteger
  def failures: Int = failed.get

  /** For as long as the block runs tasks find no driver in this process. */
  def during(body: => Unit): Unit = {
    RunningTasks.stopReceiving()
    try body
    finally {
      RunningTasks.stopSending()
      def received(message: AnyRef): Unit = LatencyApplication.receive(message): Unit
      RunningTasks.receiveBy(
        part => received(PublishedMessage(part)),
        report => received(ReportMessage(report))
      )
    }
  }

  /** The channel that tasks find from now on fails. */
  def open(): Unit = RunningTasks.sendBy { _ =>
    failed.incrementAndGet()
    throw new IllegalStateException("broken on purpose")
  }

  def message(part: PublishedPart): AnyRef = PublishedMessage(part)

  /** A message whose summary is no summary. */
  def corrupted(part: PublishedPart): AnyRef =
    PublishedMessage(part).map {
      case _: Array[Byte] => Array[Byte](1, 2, 3)
      case other => other
    }
}
