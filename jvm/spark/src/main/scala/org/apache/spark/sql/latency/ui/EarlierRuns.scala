package org.apache.spark.sql.latency.ui

import scala.xml.NodeSeq
import scala.xml.Text

import io.sparklatency.answer.EarlierRun
import io.sparklatency.answer.Readable

/**
 * The runs of queries that have a newer one, a row each. Nothing where there are none. Shows what it is given and reads no
 * figures. Without state; made by a thread of the web server for each request.
 */
private[ui] object EarlierRuns {

  /** @param link gives the address of a run's page */
  def apply(runs: Seq[EarlierRun], link: String => String): NodeSeq =
    if (runs.isEmpty) NodeSeq.Empty
    else <h4>Earlier runs</h4> ++ SortableTable("latency-earlier-runs", columns(link))(runs)

  private val column = new Columns[EarlierRun]

  private def columns(link: String => String): Seq[Column[EarlierRun]] = Seq(
    column.text(
      "Query",
      "name of the query, or its id where it has none or another running query has the same"
    )(_.query)(run =>
      LatencyPage.shortened(run.query)
    ),
    column.text("Run", "id of this run; a click shows its figures")(_.runId.getOrElse("")) { run =>
      run.runId.fold[NodeSeq](Text(Readable.Unknown))(id => <a href={link(id)}>{id}</a>)
    },
    column.plain("Status", "how this run ended; unknown where no event tells")(status),
    column.count("Batches", "batches of this run")(run => Some(run.batches)),
    column.time("Committed", "when its last batch was committed")(run => Some(run.committedMs))
  )

  private def status(run: EarlierRun): String = run.status.fold(Readable.Unknown)(_.toString)
}
