package org.apache.spark.sql.latency.ui

import scala.xml.NodeSeq
import scala.xml.Text
import scala.xml.Unparsed

import io.sparklatency.answer.NoFigures
import io.sparklatency.answer.QueryAnswer
import io.sparklatency.answer.Readable
import io.sparklatency.answer.RunStatus
import io.sparklatency.drawing.Sparkline
import io.sparklatency.figures.Measure
import org.apache.spark.sql.latency.compat.HttpServletRequest
import org.apache.spark.sql.latency.history.LatencyStore

/**
 * `/latency/`: the newest run of every query, how old its records are at its end, and which step made them so. Where there is
 * no query yet, it says how to mark one.
 *
 * Costs the critical path, a percentile, and those of the last batches at its end for each query, on the web server's threads.
 */
private[ui] final class LatencyQueriesPage(tab: LatencyTab) extends LatencyPage(tab, "") {
  import LatencyQueriesPage._

  override protected def content(request: HttpServletRequest): (String, NodeSeq) =
    "Latency" -> {
      val (store, base) = (tab.store, this.base(request))
      val runs = store.all
      runs.queries.map(store.answer) match {
        case Seq() => nothing
        case answers =>
          SortableTable(
            "latency-queries",
            columns(base, store)
          )(answers.map(new Row(_))) ++ LatencyPage.legend ++
            <p class="text-body-secondary small">Of a query without a record within the window: each node's last batch.</p> ++
            EarlierRuns(runs.earlier, runLink(base, _))
      }
    }

  private val column = new Columns[Row]

  private def columns(base: String, store: LatencyStore): Seq[Column[Row]] = Seq(
    column.wrapped(
      "Query",
      "name of the query, or its id where it has none or another running query has the same"
    )(_.query.name) { row =>
      <a href={queryLink(base, row.query)}>{LatencyPage.shortened(row.query.name, NameLength)}</a>
    },
    column.wrapped(
      "Status",
      "how this run goes, or how it ended; unknown where no event tells"
    )(_.status)(row => status(base, row.answer)),
    column.exactWith(
      "p99",
      "99th percentile of the age of records at the end of the query, over the window; the line shows the last batches"
    )(_.p99)(row => sparkline(store, row)),
    column.wrapped(
      "Slowest step",
      "what makes records old: the step, or what they wait for, and its share of their age"
    )(_.slowest) {
      row => LatencyPage.shortened(row.slowest)
    },
    column.count(
      "Watermark lag",
      "how far the watermark is behind the clock, or was when the run ended"
    )(
      _.query.watermarkLagMs
    ),
    column.text("Run", "id of this run")(_.query.runId.getOrElse("")) { row =>
      row.query.runId.fold[NodeSeq](Text(Readable.Unknown))(run =>
        <span title={run}>{run.take(RunLength)}</span>
      )
    }
  )

  /** A word, and what there is to say: red if it went wrong. */
  private def status(base: String, answer: QueryAnswer): NodeSeq = {
    val word =
      if (answer.query.runId.isEmpty) "Batch queries" else answer.status.fold(Readable.Unknown)(_.toString)
    val details = queriesLink(base).filter(_ => answer.status.contains(RunStatus.Failed))
    StatusLine.short(word, answer) ++ details.toSeq.map(href => <a href={href}>Details</a>)
  }

  private def sparkline(store: LatencyStore, row: Row): NodeSeq = {
    val ends = row.answer.path.terminals.map(_.id).toSet
    val batches = store.kept(row.query, Charted).latencies(ends)
    Unparsed(new Sparkline("p99", batches.map(_.percentile(99))).svg)
  }

  /** Reads each query's histogram once. */
  private final class Row(val answer: QueryAnswer) {
    val query = answer.query
    val p99: Option[Long] = answer.path.atEnd(Measure.E2ELatency).percentile(99)
    def status: String = answer.status.fold("")(_.toString)
    def slowest: String = answer.headline.short.getOrElse(Readable.Unknown)
  }

  private def nothing: NodeSeq =
    <div class="alert alert-info" role="status">
      <p><strong>{NoFigures.yet}</strong> Mark one by hand:</p>
      <pre>{ByHand}</pre>
      <p class="mt-3">or mark sources and ends of all streaming queries without a line of code:</p>
      <pre class="mb-1">{Automatic}</pre>
    </div>
}

/** What the page says before there are figures. */
private[ui] object LatencyQueriesPage {
  private val ByHand =
    """from sparklatency import with_e2e_latency
      |df = with_e2e_latency(df, "source")     # anywhere in the plan: each id is a node""".stripMargin

  /** How many batches a line in the table shows. Only figures of the query's ends are decoded. */
  private val Charted = 30

  private val NameLength = 32

  /** As much of a run's id as tells it from others at a glance. */
  private val RunLength = 8

  private val Automatic = "spark.sparklatency.auto=source,terminal"
}
