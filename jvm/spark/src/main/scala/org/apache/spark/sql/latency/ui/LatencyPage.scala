package org.apache.spark.sql.latency.ui

import java.net.URLEncoder
import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.atomic.AtomicBoolean

import scala.xml.Node
import scala.xml.NodeSeq
import scala.xml.Unparsed
import scala.xml.Utility

import io.sparklatency.answer.Readable
import io.sparklatency.drawing.XmlText
import io.sparklatency.figures.DropwizardName
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.spark.base.OurFailure
import org.apache.spark.internal.Logging
import org.apache.spark.sql.latency.compat.HttpServletRequest
import org.apache.spark.ui.UIUtils
import org.apache.spark.ui.WebUIPage

/**
 * A page of the tab. The driver makes all of it, with no script but Spark's own. It only reads. If a page cannot be made, it
 * says so, and the first failure is logged.
 *
 * Costs what its content does: the frame is made anew for each request. Runs on the threads of Spark's web server, several at a time.
 */
private[ui] abstract class LatencyPage(tab: LatencyTab, path: String) extends WebUIPage(path) with Logging {
  private val hasFailed = new AtomicBoolean

  /** The heading and the content under it. */
  protected def content(request: HttpServletRequest): (String, NodeSeq)

  final override def render(request: HttpServletRequest): Seq[Node] = {
    val (heading, body) =
      try content(request)
      catch { case OurFailure(e) => ("Latency", failed(e)) }
    UIUtils.headerSparkPage(request, heading, LatencyStyle.element ++ body, tab)
  }

  private def failed(e: Throwable): NodeSeq = {
    if (hasFailed.compareAndSet(false, true)) logWarning(s"the UI's page /$prefix cannot be made", e)
    <div class="alert alert-warning" role="alert">
      This page could not be made: {
      e.toString
    }. The application itself is not affected. The driver's log says more. REST has the
      figures too, under <code>/api/v1/applications/[app-id]/latency</code>.
    </div>
  }

  /**
   * What all links of a page begin with. It depends on where the request came in, and Spark looks it up among all variables of the
   * environment, so a page asks for it once.
   */
  protected def base(request: HttpServletRequest): String = UIUtils.prependBaseUri(request, tab.basePath)

  protected def queryLink(base: String, query: QuerySnapshot): String =
    runLink(base, query.runId.getOrElse(query.name))

  protected def runLink(base: String, run: String): String =
    s"$base/${tab.prefix}/query/?id=${encoded(run)}"

  /** The link of each node on the page of its query. */
  protected def nodeLinks(page: String)(node: String): String = s"$page&node=${plain(node)}#history"

  /** Spark's own page of a run's rates and durations, where the application shows one. */
  protected def statisticsLink(base: String, run: String): Option[String] =
    sparkPage(base, "StreamingQuery", s"statistics/?id=${encoded(run)}")

  /** Spark's own list of queries, which has the whole of an error. */
  protected def queriesLink(base: String): Option[String] = sparkPage(base, "StreamingQuery", "")

  /** Spark's own page of an execution's plan, which leads to its jobs: its address without the execution's id. */
  protected def executionLink(base: String): Option[String] = sparkPage(base, "SQL", "execution/?id=")

  private def sparkPage(base: String, other: String, page: String): Option[String] =
    Option.when(tab.hasBeside(other))(s"$base/$other/$page")

  /** Whether a request's parameter means this node: by the id in our links, or by the node's own id. */
  protected def isNode(parameter: String)(node: String): Boolean =
    parameter == plain(node) || parameter == node

  /** Spark changes quotes, angle brackets and percent signs in parameters. This id has none of them. */
  private def plain(node: String): String = DropwizardName.escape(node).replace('%', '.')

  private def encoded(parameter: String): String = URLEncoder.encode(parameter, UTF_8)
}

/** What several tables and pages share. Without state, for any thread. */
private[ui] object LatencyPage {

  /** The one sentence about what an en dash means, for every page that may have one. */
  val legend: NodeSeq = written(
    <p class="text-body-secondary small">
      All figures in milliseconds unless they say otherwise. {
      Unparsed(XmlText.escape(Readable.Unknown))
    } unknown: no record with a timestamp.
    </p>
  )

  /**
   * As text: elements take several times the memory, and would be written again for each request.
   *
   * @param room for about so many characters
   */
  def written(content: NodeSeq, room: Int = 1024): Unparsed = {
    val text = new StringBuilder(room)
    content.foreach(Utility.serialize(_, sb = text))
    Unparsed(text.result())
  }

  /** So many characters of an id are seen. */
  val NameLength = 48

  /** A name or id, shortened if it would push figures out of sight. */
  def shortened(id: String, length: Int = NameLength): NodeSeq = {
    val short = Readable.shortened(id, length)
    if (short == id) <span>{id}</span> else <span title={id}>{short}</span>
  }
}
