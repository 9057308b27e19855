package org.apache.spark.sql.latency.ui

import scala.xml.NodeSeq
import scala.xml.Text

import io.sparklatency.answer.EarlierRun
import io.sparklatency.answer.Readable
import org.apache.spark.ui.UIUtils

/**
 * The runs of queries that have a newer one, a row each. Nothing where there are none. Shows what it is given and reads no
 * figures. Without state; made by a thread of the web server for each request.
 */
private[ui] object EarlierRuns {

  /** @param link gives the address of a run's page */
  def apply(runs: Seq[EarlierRun], link: String => String): NodeSeq =
    if (runs.isEmpty) NodeSeq.Empty
    else <h4>Earlier runs</h4> ++ SortableTable("latency-earlier-runs", columns(link))(runs)

  private def columns(link: String => String): Seq[Column[EarlierRun]] = Seq(
    Column.text[EarlierRun](
      "Query",
      "name of the query, or its id where it has none or another running query has the same"
    )(_.query)(run =>
      LatencyPage.shortened(run.query)
    ),
    Column.text[EarlierRun]("Run", "id of this run; a click shows its figures")(_.runId.getOrElse("")) { run =>
      run.runId.fold[NodeSeq](Text(Readable.Unknown))(id => <a href={link(id)}>{id}</a>)
    },
    Column.plain[EarlierRun]("Status", "how this run ended; unknown where no event tells")(status),
    Column.count[EarlierRun]("Batches", "batches of this run")(run => Some(run.batches)),
    Column.text[EarlierRun]("Committed", "when its last batch was committed")(run =>
      f"${run.committedMs}%019d"
    )(run => Text(UIUtils.formatDate(run.committedMs)))
  )

  private def status(run: EarlierRun): String = run.status.fold(Readable.Unknown)(_.toString)
}
