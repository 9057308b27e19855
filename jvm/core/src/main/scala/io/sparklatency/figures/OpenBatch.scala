package io.sparklatency.figures

import scala.collection.mutable

import io.sparklatency.recording.Ages
import io.sparklatency.recording.LatencySummary

/** What one batch of a query has recorded so far. It is complete when its results are committed. Not thread-safe. */
final class OpenBatch(val id: Long) {
  private val nodes = mutable.LinkedHashMap.empty[String, NodeLatencies]
  private var ages = Seq.empty[(String, Ages)]
  private val came = mutable.LinkedHashMap.empty[String, Seq[Ages]]
  private val dated = mutable.Map.empty[String, Set[String]]
  private var committedMs = 0L

  /** As the batch's plan has them. */
  var watermarks: Seq[SourceWatermark] = Nil

  /** By the node at which the records come out that an operator may hold. */
  var held: Map[String, Held] = Map.empty

  /** Whether an operator of its plan may hold records until a later batch, as a window does: then other records come out than came in. */
  var holdsRecords: Boolean = false

  /** Whether its results wait for the watermark. Else it does not matter to them how far records come behind. */
  var awaitsWatermark: Boolean = false

  /** Whether an operator of its plan goes by the watermark, be it to give results out or to forget. */
  var usesWatermark: Boolean = true

  /** When its records happened on average, where the marks at which they came in go by another timestamp than the watermark. */
  var happenedMs: Option[Double] = None

  /** Whether a mark stands where sources are read. Else nobody knows when that began. */
  var seesReading: Boolean = false

  private var executions = Option.empty[Long]

  /** Who was at work. Of an execution whose end is told again nothing new is known. */
  var times: Option[BatchTimes] = None

  /** Those that it carries; none where it carries none. */
  private[figures] var markers: Option[MarkerPasses] = None

  /** The first of its executions holds the others. */
  def ran(execution: Long): Unit = executions = Some(executions.fold(execution)(_.min(execution)))

  def execution: Option[Long] = executions

  def add(node: String, upstream: Seq[String]): Unit =
    nodes(node) = nodes.get(node).fold(NodeLatencies(node, upstream, Map.empty))(_.copy(upstream = upstream))

  def add(node: String, measure: Measure, summary: LatencySummary): Unit = {
    val known = nodes.getOrElse(node, NodeLatencies(node, Nil, Map.empty))
    nodes(node) = known.copy(measures = known.measures + (measure -> (known(measure) + summary)))
  }

  def add(node: String, ages: Iterable[Ages]): Unit = this.ages ++= ages.map(node -> _)

  /** Of records that came in where an operator behind keeps state, so that others come out. */
  def cameIn(node: String, ages: Iterable[Ages]): Unit = came(node) = came.getOrElse(node, Nil) ++ ages

  /** Whether a node is one where these came in. */
  def cameInAt(node: String): Boolean = came.contains(node)

  /** The nodes whose timestamps a node goes by, renamed or as they are. */
  def dated(node: String, by: Set[String]): Unit =
    dated(node) = dated.getOrElse(node, Set.empty[String]) ++ by

  def datedBy(node: String): Set[String] = dated.getOrElse(node, Set.empty)

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

  /** How old the records are at the commit that came in, where others come out. */
  def arrivals: Option[LatencySummary] =
    Option.when(came.nonEmpty)(Ages.at(committedMs, came.values.flatten.toSeq))

  /** The same, by the node at which they did. */
  def arrivalsByNode: Map[String, LatencySummary] =
    came.toMap.map { case (node, ages) => node -> Ages.at(committedMs, ages) }
}
