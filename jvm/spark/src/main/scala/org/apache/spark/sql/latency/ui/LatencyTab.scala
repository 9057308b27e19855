package org.apache.spark.sql.latency.ui

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.latency.LatencyStore
import org.apache.spark.ui.SparkUI
import org.apache.spark.ui.SparkUITab

/** The tab "Latency" of an application's UI, and of the History Server's. */
private[spark] final class LatencyTab private (ui: SparkUI) extends SparkUITab(ui, "latency") {

  /** Asked for anew by each request: the running figures may come after the tab. */
  def store: LatencyStore = LatencyStore.of(ui)

  attachPage(new LatencyQueriesPage(this))
  attachPage(new LatencyQueryPage(this))
}

private[spark] object LatencyTab extends Logging {

  /** An application goes on without its tab. */
  def attachTo(ui: SparkUI): Unit =
    try ui.attachTab(new LatencyTab(ui))
    catch { case NonFatal(e) => logWarning("the tab Latency is not shown", e) }
}
