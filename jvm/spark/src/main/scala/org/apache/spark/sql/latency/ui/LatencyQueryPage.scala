package org.apache.spark.sql.latency.ui

import java.util.Locale

import scala.xml.NodeSeq
import scala.xml.Unparsed

import io.sparklatency.LatencyChart
import io.sparklatency.LatencyGraph
import io.sparklatency.LatencyPath
import io.sparklatency.QuerySnapshot
import io.sparklatency.Readable
import io.sparklatency.RunStatus
import io.sparklatency.spark.LatencyJson
import jakarta.servlet.http.HttpServletRequest
import org.apache.spark.sql.latency.LatencyStore

/** `/latency/query/?id=`: a run of a query. Its first lines answer which step made the records old; the rest is the evidence. */
private[ui] final class LatencyQueryPage(tab: LatencyTab) extends LatencyPage(tab, "query") {
  import LatencyQueryPage._

  override protected def content(request: HttpServletRequest): (String, NodeSeq) = {
    val (store, asked) = (tab.store, Option(request.getParameter("id")).getOrElse(""))
    store.query(asked) match {
      case None => "Latency" -> unknown(request, store)
      case Some(query) => s"Latency of ${Readable.shortened(query.name, 48)}" -> page(request, store, query)
    }
  }

  private def page(request: HttpServletRequest, store: LatencyStore, query: QuerySnapshot): NodeSeq = {
    val nodes = query.latest
    val path = new LatencyPath(nodes)
    val link = nodeLink(request, query) _
    headline(path) ++ about(query, store.status(query)) ++ SplitBar(query.lastBatches) ++
      <div class="latency-scroll my-3">{Unparsed(new LatencyGraph(nodes, link).svg)}</div> ++
      <p class="text-body-secondary small">
        The warmer a node, the more of the whole arose there, between it and the node before. Bold: the critical path.
      </p> ++
      <h4>Nodes</h4> ++ NodesTable(query, path, link) ++ LatencyPage.legend ++
      <h4 id="history">History</h4> ++
      HistoryCharts(history(store, query, charted(request, path))) ++
      <h4>Watermarks</h4> ++ WatermarksTable(query.lastBatch) ++
      <h4>Last batches</h4> ++ BatchesTable(store.history(query, BatchesShown).reverse)
  }

  private def headline(path: LatencyPath): NodeSeq = {
    val sentence = for {
      step <- path.slowestStep
      share <- path.share(step)
      own <- path.own(step)
      whole <- path.whole
    } yield {
      val where = if (path.sources.exists(_.id == step.id)) "before" else "at"
      <p class="latency-headline">
        {Readable.percent(share)} of {Readable.duration(whole)} arises {where}
        <strong>{LatencyPage.shortened(step.id)}</strong>: {Readable.duration(own)}
      </p>
    }
    sentence.getOrElse(<p class="latency-headline">No record with a timestamp has been measured yet</p>)
  }

  private def about(query: QuerySnapshot, status: Option[RunStatus]): NodeSeq = {
    val batches = if (query.batches == 1) "1 batch" else s"${Readable.count(query.batches)} batches"
    val state = query.runId.map(run =>
      (status.map(_.toString.toLowerCase(Locale.ROOT)) ++ Seq(s"run $run")).mkString(", ")
    )
    val span =
      if (query.isSilent)
        "no record with a timestamp came within the window: figures are of each node's last batch"
      else "means over the window"
    val waiting = query.oldestUncommittedMs.map(age =>
      s"the oldest record that waits for its commit is ${Readable.duration(age.toDouble)} old"
    )
    val folded =
      Option.when(query.folded > 0)(s"nodes folded into __other__: ${Readable.count(query.folded)}")
    <p class="text-body-secondary">{
      (Seq(batches) ++ state ++ Seq(span) ++ waiting ++ folded).mkString(" · ")
    }</p>
  }

  /** The nodes asked for; else the step to look at and the ends, few enough to be drawn at once. */
  private def charted(request: HttpServletRequest, path: LatencyPath): Seq[String] = {
    val named = Option(request.getParameterValues("node")).toSeq.flatten
    val asked = path.nodes.map(_.id).filter(node => named.exists(isNode(_)(node)))
    val chosen = if (asked.isEmpty) (path.slowestStep ++ path.terminals).map(_.id).toSeq.distinct else asked
    chosen.take(ChartsShown)
  }

  private def history(
      store: LatencyStore,
      query: QuerySnapshot,
      nodes: Seq[String]
  ): Seq[(String, Seq[LatencyChart.Point])] = {
    val points = store.latencies(query, nodes.toSet)
    nodes.map(node => node -> points.getOrElse(node, Nil))
  }

  private def unknown(request: HttpServletRequest, store: LatencyStore): NodeSeq =
    <div class="alert alert-info" role="status">
      There are no figures of a query with this name or id: {LatencyJson.NoneIsKnown}.
      {store.queries.map(query => <a class="d-block" href={queryLink(request, query)}>{query.name}</a>)}
    </div>
}

private[ui] object LatencyQueryPage {
  private val ChartsShown = 4
  private val BatchesShown = 20
}
