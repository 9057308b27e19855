package org.apache.spark.sql.latency.ui

import io.sparklatency.spark.base.OurFailure
import org.apache.spark.internal.Logging
import org.apache.spark.sql.latency.history.LatencyStore
import org.apache.spark.ui.SparkUI
import org.apache.spark.ui.SparkUITab

/**
 * The tab "Latency" of an application's UI, and of the History Server's. Costs nothing until somebody opens it. The threads
 * of the web server ask it, several at a time.
 *
 * @param read what the pages show. Each request asks for it anew
 */
private[spark] final class LatencyTab private (ui: SparkUI, read: () => LatencyStore)
    extends SparkUITab(ui, "latency") {

  def store: LatencyStore = read()

  /** Whether the UI has another tab. */
  def hasBeside(prefix: String): Boolean = ui.getTabs.exists(_.prefix == prefix)

  attachPage(new LatencyQueriesPage(this))
  attachPage(new LatencyQueryPage(this))
}

/** Attaches the tab to a UI, once for each application: when its figures begin, or when a History Server loads it. */
private[spark] object LatencyTab extends Logging {

  /** A failure is logged. An application goes on without its tab. */
  def attachTo(ui: SparkUI, read: () => LatencyStore): Unit =
    try ui.attachTab(new LatencyTab(ui, read))
    catch { case OurFailure(e) => logWarning("The tab Latency is not shown.", e) }
}
