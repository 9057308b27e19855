package org.apache.spark.sql.latency

import org.apache.spark.SparkContext
import org.apache.spark.sql.latency.application.LatencyApplication
import org.apache.spark.sql.latency.history.LatencyStore

/** What a running application shows. In Spark's own package for what only ours may call. */
object LiveStore {

  /** With all that its events have told by now. */
  def of(context: SparkContext): LatencyStore = {
    ListenerBus.awaitEmpty(context)
    LatencyApplication.running(context).store
  }
}
