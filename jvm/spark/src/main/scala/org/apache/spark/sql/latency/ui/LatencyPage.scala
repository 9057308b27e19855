package org.apache.spark.sql.latency.ui

import java.net.URLEncoder
import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.atomic.AtomicBoolean

import scala.util.control.NonFatal
import scala.xml.Node
import scala.xml.NodeSeq

import io.sparklatency.MetricName
import io.sparklatency.QuerySnapshot
import io.sparklatency.Readable
import jakarta.servlet.http.HttpServletRequest
import org.apache.spark.internal.Logging
import org.apache.spark.ui.UIUtils
import org.apache.spark.ui.WebUIPage

/**
 * A page of the tab. Everything on it is made here: no script beyond those that Spark has on every page. A failure is logged
 * once, and the page says so.
 */
private[ui] abstract class LatencyPage(tab: LatencyTab, path: String) extends WebUIPage(path) with Logging {
  private val hasFailed = new AtomicBoolean

  /** The heading, and what stands under it. */
  protected def content(request: HttpServletRequest): (String, NodeSeq)

  final override def render(request: HttpServletRequest): Seq[Node] = {
    val (heading, body) =
      try content(request)
      catch { case NonFatal(e) => ("Latency", failed(e)) }
    UIUtils.headerSparkPage(request, heading, LatencyStyle.element ++ body, tab)
  }

  private def failed(e: Throwable): NodeSeq = {
    if (hasFailed.compareAndSet(false, true)) logWarning(s"the UI's page /$prefix cannot be made", e)
    <div class="alert alert-warning" role="alert">
      This page could not be made: {
      e.toString
    }. The application is not concerned. The driver's log has more; figures can also be
      had over REST, under <code>/api/v1/applications/[app-id]/latency</code>.
    </div>
  }

  protected def queryLink(request: HttpServletRequest, query: QuerySnapshot): String = {
    val page = UIUtils.prependBaseUri(request, tab.basePath, s"/${tab.prefix}/query/")
    s"$page?id=${encoded(query.runId.getOrElse(query.name))}"
  }

  protected def nodeLink(request: HttpServletRequest, query: QuerySnapshot)(node: String): String =
    s"${queryLink(request, query)}&node=${plain(node)}#history"

  /** Whether a parameter of a request means this node: by an id as links have it, or by the node's own. */
  protected def isNode(parameter: String)(node: String): Boolean =
    parameter == plain(node) || parameter == node

  /** Spark changes quotes, angle brackets and percent signs in what it hands over, and none of these. */
  private def plain(node: String): String = MetricName.escape(node).replace('%', '.')

  private def encoded(parameter: String): String = URLEncoder.encode(parameter, UTF_8)
}

private[ui] object LatencyPage {

  /** The one sentence about what an en dash means, for every page that may have one. */
  val legend: NodeSeq =
    <p class="text-body-secondary small">
      All figures in milliseconds unless they say otherwise. {
      Readable.Unknown
    } unknown: no record with a timestamp.
    </p>

  /** A name or id, shortened where it would push figures out of sight. */
  def shortened(id: String, length: Int = 48): NodeSeq = {
    val short = Readable.shortened(id, length)
    if (short == id) <span>{id}</span> else <span title={id}>{short}</span>
  }
}
