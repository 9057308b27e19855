package io.sparklatency.figures

import scala.collection.mutable

import io.sparklatency.recording.Ages
import io.sparklatency.recording.LatencySummary

/** What one batch of a query has recorded so far. It is complete when its results are committed. Not thread-safe. */
final class OpenBatch(val id: Long) {
  private val nodes = mutable.LinkedHashMap.empty[String, NodeLatencies]
  private var ages = Seq.empty[(String, Ages)]
  private var committedMs = 0L

  /** As the batch's plan has them. */
  var watermarks: Seq[SourceWatermark] = Nil

  /** Who was at work. Of an execution whose end is told again nothing new is known. */
  var times: Option[BatchTimes] = None

  def add(node: String, upstream: Seq[String]): Unit =
    nodes(node) = nodes.get(node).fold(NodeLatencies(node, upstream, Map.empty))(_.copy(upstream = upstream))

  def add(node: String, measure: Measure, summary: LatencySummary): Unit = {
    val known = nodes.getOrElse(node, NodeLatencies(node, Nil, Map.empty))
    nodes(node) = known.copy(measures = known.measures + (measure -> (known(measure) + summary)))
  }

  def add(node: String, ages: Iterable[Ages]): Unit = this.ages ++= ages.map(node -> _)

  /** Spark may tell the end of an execution twice: the later time is when the results could be seen. */
  def committed(atMs: Long): Unit = committedMs = math.max(committedMs, atMs)

  def committedAt: Long = committedMs

  /** In plan order, with the commit latency where it was taken. */
  def latencies: Seq[NodeLatencies] = {
    val commits = ages.groupMap(_._1)(_._2).map { case (node, ages) => node -> Ages.at(committedMs, ages) }
    nodes.values.map { node =>
      node.copy(measures = node.measures ++ commits.get(node.id).map(Measure.Commit -> _))
    }.toSeq
  }
}
