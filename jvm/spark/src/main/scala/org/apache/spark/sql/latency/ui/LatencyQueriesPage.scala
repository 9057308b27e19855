package org.apache.spark.sql.latency.ui

import scala.xml.NodeSeq

import io.sparklatency.answer.NoFigures
import io.sparklatency.answer.QueryAnswer
import io.sparklatency.answer.Readable
import io.sparklatency.figures.Measure
import org.apache.spark.sql.latency.compat.HttpServletRequest

/**
 * `/latency/`: the newest run of every query, how old its records are at its end, and which step made them so. Where there is
 * no query yet, it says how to mark one.
 *
 * Costs the critical path and a few percentiles for each query, on the web server's threads.
 */
private[ui] final class LatencyQueriesPage(tab: LatencyTab) extends LatencyPage(tab, "") {

  override protected def content(request: HttpServletRequest): (String, NodeSeq) =
    "Latency" -> {
      val store = tab.store
      val runs = store.all
      runs.queries.map(store.answer) match {
        case Seq() => nothing
        case answers =>
          SortableTable("latency-queries", columns(request))(answers.map(new Row(_))) ++ LatencyPage.legend ++
            <p class="text-body-secondary small">Of a query without a record within the window: each node's last batch.</p> ++
            EarlierRuns(runs.earlier, runLink(request, _))
      }
    }

  private def columns(request: HttpServletRequest): Seq[Column[Row]] = Seq(
    Column.text[Row](
      "Query",
      "name of the query, or its id where it has none or another running query has the same"
    )(_.query.name) { row =>
      <a href={queryLink(request, row.query)}>{LatencyPage.shortened(row.query.name)}</a>
    },
    Column.text[Row]("Run", "id of this run")(_.query.runId.getOrElse("")) { row =>
      <span>{row.query.runId.getOrElse(Readable.Unknown)}</span>
    },
    Column.text[Row](
      "Status",
      "whether this run goes on, or how it ended; unknown where no event tells"
    )(_.status)(row => <span>{row.status}</span>),
    Column.count[Row]("Batches", "batches of this run")(row => Some(row.query.batches)),
    Column.exact[Row](
      "p50",
      "median age of records at the end of the query, over the window"
    )(_.percentiles.head),
    Column.exact[Row]("p99", "99th percentile of the same")(_.percentiles.last),
    Column.exact[Row]("Max", "maximum of the same")(_.atEnd.max),
    Column.exact[Row]("Commit p99", "99th percentile of the age of records when their batch was committed")(
      _.path.atEnd(Measure.Commit).percentile(99)
    ),
    Column.text[Row](
      "Slowest step",
      "what makes records old: the step, or what they wait for, and its share of their age"
    )(_.slowest) {
      row => LatencyPage.shortened(row.slowest)
    },
    Column.exact[Row]("Watermark lag", "how far the watermark was behind the clock at the last commit")(
      _.query.lastBatch.flatMap(_.watermarkLagMs)
    )
  )

  /** Reads each query's histogram once, though several columns need it. */
  private final class Row(answer: QueryAnswer) {
    val (query, path) = (answer.query, answer.path)
    val atEnd = path.atEnd(Measure.E2ELatency)
    val percentiles: Seq[Option[Long]] = atEnd.percentiles(Seq(50, 99))

    def status: String =
      if (query.runId.isEmpty) "Batch queries" else answer.status.fold(Readable.Unknown)(_.toString)

    def slowest: String = answer.headline.short.getOrElse(Readable.Unknown)
  }

  private def nothing: NodeSeq =
    <div class="alert alert-info" role="status">
      <p><strong>{NoFigures.yet}</strong> Mark one by hand:</p>
      <pre>{LatencyQueriesPage.ByHand}</pre>
      <p class="mt-3">or mark sources and ends of all streaming queries without a line of code:</p>
      <pre class="mb-1">{LatencyQueriesPage.Automatic}</pre>
    </div>
}

/** What the page says before there are figures. */
private[ui] object LatencyQueriesPage {
  private val ByHand =
    """from sparklatency import with_e2e_latency
      |df = with_e2e_latency(df, "source")     # anywhere in the plan: each id is a node""".stripMargin

  private val Automatic = "spark.sparklatency.auto=source,terminal"
}
