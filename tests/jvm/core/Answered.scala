package io.sparklatency

import io.sparklatency.answer.Headline
import io.sparklatency.answer.Note
import io.sparklatency.answer.QueryAnswer
import io.sparklatency.answer.RunStatus
import io.sparklatency.figures.Activity
import io.sparklatency.figures.Measure
import io.sparklatency.figures.MeasureSnapshot
import io.sparklatency.figures.NodeLatencies
import io.sparklatency.figures.NodeSnapshot
import io.sparklatency.figures.NodeTimestamp
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.recording.LatencySummary

/** Queries of given figures, and what is said of them. */
object Answered {

  /** All that its nodes ever measured was within the window and in their last batch. */
  def query(nodes: NodeLatencies*): QuerySnapshot =
    QuerySnapshot("orders", Some("id"), Some("run"), 1, nodes.map(snapshot(_)), 0, None)

  /** The same a long time after. */
  def silent(nodes: NodeLatencies*): QuerySnapshot =
    query().copy(nodes = nodes.map(snapshot(_, window = _ => LatencySummary.empty)))

  private def snapshot(
      node: NodeLatencies,
      window: LatencySummary => LatencySummary = identity
  ): NodeSnapshot = {
    val measures = node.measures.map { case (measure, all) =>
      measure -> MeasureSnapshot(all, window(all), all)
    }
    NodeSnapshot(node.id, node.upstream, measures, node.measures, timestamp = node.timestamp)
  }

  /** A query of which no batch ends: what is shown is of running tasks. */
  def withoutEnd(nodes: NodeLatencies*): QuerySnapshot = {
    val running = query(nodes: _*)
    val activity = Activity(0, "Processing new data", None, hasData = true, hasNoEnd = true)
    running.copy(
      batches = 0,
      nodes = running.nodes.map(_.copy(batch = Map.empty))
    ).doing(Some(activity), 100000)
  }

  def answer(query: QuerySnapshot, status: Option[RunStatus] = None): QueryAnswer =
    new QueryAnswer(query, status)

  def notes(query: QuerySnapshot, code: String): Seq[Note] = answer(query).notes.filter(_.code == code)

  /** All that a headline tells. */
  def said(
      headline: Headline
  ): (String, Option[String], Option[Double], Option[Double], Option[Double], String) =
    (headline.code.name, headline.node, headline.own, headline.whole, headline.share, headline.text)

  implicit final class Measured(private val node: NodeLatencies) extends AnyVal {

    /** What the node measured besides. */
    def and(measure: Measure, records: LatencySummary): NodeLatencies =
      node.copy(measures = node.measures + (measure -> records))

    def by(column: String, isAnother: Boolean = false): NodeLatencies =
      node.copy(timestamp = Some(NodeTimestamp(column, isAnother)))

    def committed(ms: Long*): NodeLatencies = and(Measure.Commit, Aged.records(ms: _*))
  }
}
