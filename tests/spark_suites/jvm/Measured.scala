package io.sparklatency.sparksuites

import java.util.concurrent.atomic.AtomicLong

import org.apache.spark.scheduler.SparkListener
import org.apache.spark.scheduler.SparkListenerEvent

/**
 * Counts what the jar measures while suites run, so that nobody mistakes suites that ran without it for suites that it left
 * alone. Knows the jar's event by its name, since the jar is not on the class path of the run without it.
 */
final class Measured extends SparkListener {
  override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
    case batch: Product if batch.productPrefix == "SparkListenerLatencyBatch" =>
      Measured.batchesSeen.incrementAndGet()
      batch.productElementNames.zip(batch.productIterator).foreach {
        case ("nodes", nodes: Array[_]) => Measured.nodesSeen.addAndGet(nodes.length.toLong)
        case _ =>
      }
    case _ =>
  }
}

object Measured {
  private val batchesSeen, nodesSeen = new AtomicLong

  /** Batches and their nodes whose figures have come since this process began. */
  def batches: Long = batchesSeen.get
  def nodes: Long = nodesSeen.get
}
