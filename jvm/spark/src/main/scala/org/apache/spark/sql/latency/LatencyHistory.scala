package org.apache.spark.sql.latency

import io.sparklatency.spark.LatencyConf
import org.apache.spark.SparkConf
import org.apache.spark.scheduler.SparkListener
import org.apache.spark.sql.latency.ui.LatencyTab
import org.apache.spark.status.AppHistoryServerPlugin
import org.apache.spark.status.ElementTrackingStore
import org.apache.spark.ui.SparkUI

/** Brings the figures of an application that has ended into the History Server, which finds this by `META-INF/services`. */
final class LatencyHistory extends AppHistoryServerPlugin {

  override def createListeners(conf: SparkConf, store: ElementTrackingStore): Seq[SparkListener] =
    Seq(new StoredBatches(store, LatencyConf(conf).historyBatches))

  /** Only where there is something to see. */
  override def setupUI(ui: SparkUI): Unit = if (!LatencyStore.of(ui).isEmpty) LatencyTab.attachTo(ui)

  /** After Structured Streaming's tab. */
  override def displayOrder: Int = 100
}
