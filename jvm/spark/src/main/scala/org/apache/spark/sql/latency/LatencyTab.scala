package org.apache.spark.sql.latency

import scala.xml.Node

import jakarta.servlet.http.HttpServletRequest
import org.apache.spark.ui.SparkUI
import org.apache.spark.ui.SparkUITab
import org.apache.spark.ui.UIUtils
import org.apache.spark.ui.WebUIPage

/** The tab "Latency" of an application's UI, and of the History Server's. */
private[spark] final class LatencyTab(ui: SparkUI) extends SparkUITab(ui, "latency") {
  val store: LatencyStore = LatencyStore.of(ui)

  def attach(): Unit = {
    attachPage(new LatencyQueriesPage(this))
    ui.attachTab(this)
  }
}

private[spark] final class LatencyQueriesPage(tab: LatencyTab) extends WebUIPage("") {
  override def render(request: HttpServletRequest): Seq[Node] =
    UIUtils.headerSparkPage(
      request,
      "Latency",
      <ul>{tab.store.queries.map(query => <li>{query.name}</li>)}</ul>,
      tab
    )
}
