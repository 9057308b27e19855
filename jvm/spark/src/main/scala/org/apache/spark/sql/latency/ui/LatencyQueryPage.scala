package org.apache.spark.sql.latency.ui

import java.time.ZoneId
import java.util.Locale

import scala.xml.NodeSeq
import scala.xml.Unparsed

import io.sparklatency.answer.Headline
import io.sparklatency.answer.NoFigures
import io.sparklatency.answer.QueryAnswer
import io.sparklatency.answer.Readable
import io.sparklatency.answer.Work
import io.sparklatency.drawing.GraphDrawing
import io.sparklatency.drawing.PhasesChart
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.path.LatencyPath
import org.apache.spark.sql.latency.compat.HttpServletRequest
import org.apache.spark.sql.latency.history.KeptBatches
import org.apache.spark.sql.latency.history.KeptOfRuns
import org.apache.spark.sql.latency.history.LatencyStore

/**
 * `/latency/query/?id=`: a run of a query. The first lines say which step made its records old. The rest is the evidence.
 *
 * Shows all kept batches of the run in at most four charts, and decodes only the nodes of these, on the web server's threads. What is
 * made is kept in three parts, each until what it shows is another. What is said of a run that goes on is another each time; its history
 * and its batches are when a batch has come. Of 40 nodes and 100 batches that is at most 0.3 MB, and it is kept of at most sixteen runs.
 * What is shown of each batch alone is kept beside the batches, so that the page after a batch makes it of the new one only.
 */
private[ui] final class LatencyQueryPage(tab: LatencyTab) extends LatencyPage(tab, "query") {
  import LatencyQueryPage._

  private val answers, histories, tables = new KeptOfRuns[NodeSeq]

  override protected def content(request: HttpServletRequest): (String, NodeSeq) = {
    val (store, asked) = (tab.store, Option(request.getParameter("id")).getOrElse(""))
    store.query(asked) match {
      case None => "Latency" -> unknown(base(request), store)
      case Some(query) =>
        s"Latency of ${Readable.shortened(query.name, LatencyPage.NameLength)}" -> page(request, store, query)
    }
  }

  private def page(request: HttpServletRequest, store: LatencyStore, query: QuerySnapshot): NodeSeq = {
    val base = this.base(request)
    val answer = store.answer(query)
    val kept = store.kept(query)
    val asked = named(request, answer.path)
    answered(base, answer, asked) ++
      <h4 id="history">History</h4> ++
      charts(query, kept, charted(answer, asked)) ++
      <h4>Watermarks</h4> ++ WatermarksTable(query) ++
      <h4>Last batches</h4> ++ batches(query, kept, executionLink(base))
  }

  /** What the answer says, and the figures behind it: all but the batches. The links depend on where the request came in. */
  private def answered(base: String, answer: QueryAnswer, asked: Seq[String]): NodeSeq = {
    val (query, path) = (answer.query, answer.path)
    val page = queryLink(base, query)
    val statistics = query.runId.flatMap(statisticsLink(base, _))
    answers(keyOf(query), answer, page, statistics, asked) {
      val link = nodeLinks(page) _
      // The headline is one of the notes where there is nothing else to say, and the line of the status tells what error there was.
      val said = answer.headline.text +: answer.progress.failed.toSeq
      written(
        headline(answer.headline) ++ about(answer, statistics) ++ StatusLine(answer) ++
          SplitBar(answer.parts) ++ NoteLines(answer.notes.filterNot(note => said.contains(note.text))) ++
          (if (path.nodes.isEmpty) NodeSeq.Empty else nodes(query, path, link, answer.work)) ++
          OperatorsTable.soFar(query, answer.workSoFar, link) ++ OperatorsTable(query, answer.work, link) ++
          PartitionsTable(answer.work, asked) ++ MarkersTable(query.markers)
      )
    }
  }

  private def nodes(
      query: QuerySnapshot,
      path: LatencyPath,
      link: String => String,
      work: Option[Work]
  ): NodeSeq =
    <div class="latency-scroll my-3">{Unparsed(new GraphDrawing(path, link, work).svg)}</div> ++
      <p class="text-body-secondary small">
        The warmer a node, the more of the whole arose there, between it and the node before. Bold: the critical path.{
        work.fold("")(_ => s" $AtWork")
      }
      </p> ++
      <h4>Nodes</h4> ++ NodesTable(query, path, link) ++ LatencyPage.legend

  private def headline(headline: Headline): NodeSeq = {
    val words = headline.words
    <p class="latency-headline">{words.before}{bold(words.name, headline.node)}{words.after}</p>
  }

  private def bold(name: String, whole: Option[String]): NodeSeq =
    if (name.isEmpty) NodeSeq.Empty
    else <strong title={whole.filter(_ != name).orNull}>{name}</strong>

  private def about(answer: QueryAnswer, statisticsLink: Option[String]): NodeSeq = {
    val query = answer.query
    val batches = Readable.counted(query.batches, "batch", "batches")
    val state = query.runId.map(run =>
      (answer.status.map(_.toString.toLowerCase(Locale.ROOT)) ++ Seq(s"run $run")).mkString(", ")
    )
    val span = if (query.isSilent) "figures of each node's last batch" else "figures over the window"
    val statistics = statisticsLink.map(href =>
      <span> · <a href={href}>rates and durations</a></span>
    )
    <p class="text-body-secondary">{(Seq(batches) ++ state ++ Seq(span)).mkString(" · ")}{
      statistics.toSeq
    }</p>
  }

  /** The nodes that the request names. Where it names none: the slowest step and the last nodes. At most a few. */
  private def charted(answer: QueryAnswer, asked: Seq[String]): Seq[String] = {
    val chosen =
      if (asked.isEmpty) (answer.slowestStep ++ answer.path.terminals.map(_.id)).toSeq.distinct else asked
    chosen.take(ChartsShown)
  }

  private def named(request: HttpServletRequest, path: LatencyPath): Seq[String] = {
    val named = Option(request.getParameterValues("node")).toSeq.flatten
    path.nodes.map(_.id).filter(node => named.exists(isNode(_)(node))).take(ChartsShown)
  }

  private def charts(query: QuerySnapshot, kept: KeptBatches, nodes: Seq[String]): NodeSeq =
    histories(keyOf(query), kept.newest, nodes) {
      val zone = ZoneId.systemDefault
      written(
        HistoryCharts(kept.charts(nodes, zone)) ++ HistoryCharts.phases(kept.phases(PhasesChart.Most, zone))
      )
    }

  private def batches(query: QuerySnapshot, kept: KeptBatches, link: Option[String]): NodeSeq =
    tables(keyOf(query), kept.newest, link) {
      BatchesTable(kept, BatchesShown, link) // a text already
    }

  private def keyOf(query: QuerySnapshot): String = query.runId.getOrElse(query.name)

  private def written(content: NodeSeq): NodeSeq = LatencyPage.written(content, Room)

  private def unknown(base: String, store: LatencyStore): NodeSeq =
    <div class="alert alert-info" role="status">
      There are no figures of a query with this name or id: {NoFigures.why}.
      {store.queries.map(query => <a class="d-block" href={queryLink(base, query)}>{query.name}</a>)}
    </div>
}

/** The limits that keep a page's size and cost apart from the number of batches. */
private[ui] object LatencyQueryPage {
  private val ChartsShown = 4
  private val AtWork =
    "At work: the operator latency in the last batch that tells it. A bar: the node is on the critical path of operators, and its share."
  private val BatchesShown = 20

  /** Most of a page's two large parts have as many characters. */
  private val Room = 1 << 16
}
