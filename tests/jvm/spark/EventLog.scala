package org.apache.spark.sql.latency

import scala.collection.mutable

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.SparkListener
import org.apache.spark.scheduler.SparkListenerEvent
import org.apache.spark.util.JsonProtocol

/** What the event log has of what is run: our events, a line each. In Spark's own package for its format. */
object EventLog {
  def during[A](context: SparkContext)(run: => A): (A, Seq[String]) = {
    val lines = mutable.ArrayBuffer.empty[String]
    val log = new SparkListener {
      override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
        case _: SparkListenerLatencyNote | _: SparkListenerLatencyBatch =>
          lines.synchronized(lines += JsonProtocol.sparkEventToJsonString(event))
        case _ =>
      }
    }
    context.addSparkListener(log)
    try {
      val result = run
      ListenerBus.awaitEmpty(context)
      (result, lines.toSeq)
    } finally context.removeSparkListener(log)
  }
}
