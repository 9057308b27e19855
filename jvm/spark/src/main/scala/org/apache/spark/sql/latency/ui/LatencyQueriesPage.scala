package org.apache.spark.sql.latency.ui

import scala.xml.NodeSeq

import io.sparklatency.LatencyPath
import io.sparklatency.Measure
import io.sparklatency.QuerySnapshot
import io.sparklatency.Readable
import io.sparklatency.RunStatus
import jakarta.servlet.http.HttpServletRequest

/** `/latency/`: every query of the application, how old its records are at its end, and which step made them so. */
private[ui] final class LatencyQueriesPage(tab: LatencyTab) extends LatencyPage(tab, "") {

  override protected def content(request: HttpServletRequest): (String, NodeSeq) =
    "Latency" -> {
      val store = tab.store
      store.queries match {
        case Seq() => nothing
        case queries =>
          val rows = queries.map(query => new Row(query, store.status(query)))
          SortableTable("latency-queries", columns(request))(rows) ++ LatencyPage.legend ++
            <p class="text-body-secondary small">Of a query without a record within the window: each node's last batch.</p>
      }
    }

  private def columns(request: HttpServletRequest): Seq[Column[Row]] = Seq(
    Column.text[Row]("Query", "name of the query, or its id where it has none")(_.query.name) { row =>
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
      "where on the critical path most time goes, and its share of the whole"
    )(_.slowest) {
      row => LatencyPage.shortened(row.slowest)
    },
    Column.exact[Row]("Watermark lag", "how far the watermark was behind the clock at the last commit")(
      _.query.lastBatch.flatMap(_.watermarkLagMs)
    )
  )

  private final class Row(val query: QuerySnapshot, runStatus: Option[RunStatus]) {
    val path = new LatencyPath(query.latest)
    val atEnd = path.atEnd(Measure.E2ELatency)
    val percentiles: Seq[Option[Long]] = atEnd.percentiles(Seq(50, 99))

    def status: String =
      if (query.runId.isEmpty) "Batch queries" else runStatus.fold(Readable.Unknown)(_.toString)

    def slowest: String = path.slowestStep.fold(Readable.Unknown) { node =>
      node.id + path.share(node).fold("")(share => s" (${Readable.percent(share)})")
    }
  }

  private def nothing: NodeSeq =
    <div class="alert alert-info" role="status">
      <p><strong>No figures yet.</strong> They appear when a batch of a query with a marked node has ended. Mark one by hand:</p>
      <pre>{LatencyQueriesPage.ByHand}</pre>
      <p class="mt-3">or mark sources and ends of all streaming queries without a line of code:</p>
      <pre class="mb-1">{LatencyQueriesPage.Automatic}</pre>
    </div>
}

private[ui] object LatencyQueriesPage {
  private val ByHand =
    """from sparklatency import with_e2e_latency
      |df = with_e2e_latency(df, "source")     # anywhere in the plan: each id is a node""".stripMargin

  private val Automatic = "spark.sparklatency.auto=source,terminal"
}
