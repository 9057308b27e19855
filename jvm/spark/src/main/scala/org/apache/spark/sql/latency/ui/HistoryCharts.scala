package org.apache.spark.sql.latency.ui

import scala.xml.Elem
import scala.xml.NodeSeq
import scala.xml.Unparsed

import io.sparklatency.drawing.LatencyChart
import io.sparklatency.drawing.PhasesChart

/**
 * Charts of some nodes' latency over the batches that are kept, and of what the last batches spent their time on. Writes
 * what it is given; its place in the page grows with the batches. Without state; made by a thread of the web server.
 */
private[ui] object HistoryCharts {

  /** @param charts of each node that has one */
  def apply(charts: Seq[(String, LatencyChart)]): NodeSeq =
    if (charts.isEmpty) <p>No batch with a record that has a timestamp has been committed yet.</p>
    else key ++ <div class="row">{charts.map { case (node, drawn) => chart(node, drawn) }}</div>

  /** What the last batches spent their time on; nothing of batch queries, of which no event tells. */
  def phases(bars: Seq[PhasesChart.Drawn]): NodeSeq = if (bars.isEmpty) NodeSeq.Empty
  else {
    <h4>Phases of the last batches</h4> ++
      <p class="text-body-secondary small">
        {PhasesChart.told(bars).map(ofPhase) :+ ofRate}
      </p> ++
      <div class="row"><div class="col-12 col-xl-6 mb-3 latency-scroll">{
        Unparsed(new PhasesChart(bars).svg)
      }</div></div>
  }

  private def chart(node: String, drawn: LatencyChart): NodeSeq =
    <div class="col-12 col-xl-6 mb-3">
      <h5>{LatencyPage.shortened(node)}</h5>
      <div class="latency-scroll">{Unparsed(drawn.svg)}</div>
    </div>

  private val ofPhase: Map[String, Unparsed] = PhasesChart.Phases.map(name =>
    name -> LatencyPage.written(
      keyed(name)(<rect class={s"latency-phase latency-phase-$name"} width="24" height="12"/>)
    )
  ).toMap

  private val ofRate =
    LatencyPage.written(keyed("rows a second")(<line class="latency-rate" x1="0" y1="6" x2="24" y2="6"/>))

  private val key: NodeSeq = LatencyPage.written(
    <p class="text-body-secondary small">
      {
      Seq("band" -> "p50 to p99", "avg" -> "avg", "max" -> "max").map { case (line, name) =>
        keyed(name)(
          if (line == "band") <rect class="latency-band" width="24" height="12"/>
          else <line class={s"latency-$line"} x1="0" y1="6" x2="24" y2="6"/>
        )
      }
    }
      at each batch's commit; a click on a node above shows that node.
    </p>
  )

  /** A line breaks between two of them, and not within one. */
  private def keyed(name: String)(mark: Elem): Elem =
    <span class="me-3 d-inline-block"><svg class="latency-key" viewBox="0 0 24 12">{mark}</svg>{name}</span>
}
