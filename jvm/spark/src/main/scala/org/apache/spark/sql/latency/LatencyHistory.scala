package org.apache.spark.sql.latency

import scala.util.control.NonFatal

import io.sparklatency.spark.LatencyConf
import org.apache.spark.SparkConf
import org.apache.spark.internal.Logging
import org.apache.spark.scheduler.SparkListener
import org.apache.spark.sql.latency.ui.LatencyTab
import org.apache.spark.status.AppHistoryServerPlugin
import org.apache.spark.status.ElementTrackingStore
import org.apache.spark.ui.SparkUI

/** Brings the figures of an application that has ended into the History Server, which finds this by `META-INF/services`. */
final class LatencyHistory extends AppHistoryServerPlugin with Logging {

  override def createListeners(conf: SparkConf, store: ElementTrackingStore): Seq[SparkListener] =
    Seq(new StoredBatches(store, LatencyConf.orDefaults(conf).historyBatches))

  /** Only where there is something to see. What fails here must not keep the rest of an application from being seen. */
  override def setupUI(ui: SparkUI): Unit =
    try if (!LatencyStore.of(ui).isEmpty) LatencyTab.attachTo(ui)
    catch { case NonFatal(e) => logWarning("the tab Latency is not shown", e) }

  /** After Structured Streaming's tab. */
  override def displayOrder: Int = 100
}
