package org.apache.spark.sql.latency

import io.sparklatency.spark.Patience
import org.apache.spark.SparkContext

/** Figures arrive with the events of an execution; this is the condition to await. In Spark's own package for its visibility. */
object ListenerBus {
  def awaitEmpty(context: SparkContext): Unit =
    context.listenerBus.waitUntilEmpty(Patience.Millis)
}
