package org.apache.spark.sql.latency

import java.util.concurrent.atomic.AtomicInteger

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.SparkListener
import org.apache.spark.scheduler.SparkListenerEvent
import org.apache.spark.scheduler.SparkListenerStageCompleted
import org.apache.spark.scheduler.SparkListenerTaskEnd
import org.apache.spark.sql.streaming.StreamingQueryListener.QueryProgressEvent

/** How much Spark ran. */
final case class JobsOf(batches: Int, stages: Int, tasks: Int)

object JobsOf {

  /** All that the application runs while `run` does. */
  def apply(context: SparkContext)(run: => Unit): JobsOf = {
    val (batches, stages, tasks) = (new AtomicInteger, new AtomicInteger, new AtomicInteger)
    val listener = new SparkListener {
      override def onStageCompleted(end: SparkListenerStageCompleted): Unit = { stages.incrementAndGet(); () }
      override def onTaskEnd(end: SparkListenerTaskEnd): Unit = { tasks.incrementAndGet(); () }
      override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
        case _: QueryProgressEvent => batches.incrementAndGet(); ()
        case _ =>
      }
    }
    ListenerBus.awaitEmpty(context)
    context.addSparkListener(listener)
    try {
      run
      ListenerBus.awaitEmpty(context)
    } finally context.removeSparkListener(listener)
    JobsOf(batches.get, stages.get, tasks.get)
  }
}
