package org.apache.spark.sql.latency

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.annotation.JsonInclude
import io.sparklatency.figures.BatchTimes
import io.sparklatency.figures.LastWindows
import io.sparklatency.figures.NodePartitions
import io.sparklatency.figures.NodeTimes
import io.sparklatency.figures.PartitionTimes
import io.sparklatency.figures.StageTimes

/**
 * Who was at work for a batch, in its event or in Spark's store: a [[BatchTimes]] in types that Jackson reads as it wrote them. About
 * six hundred bytes for each node. Immutable: nobody may change its arrays. Its field names, and those of the classes below, stand in event
 * logs.
 */
final case class StoredTimes(firstReadMicros: Long, boundMs: java.lang.Double, stages: Array[StoredStage]) {

  /** @param batch its number */
  def times(batch: Long): BatchTimes =
    BatchTimes(batch, firstReadMicros, Option(boundMs).map(_.toDouble), stages.toSeq.map(_.stage))
}

/** Writes times as an event has them. */
object StoredTimes {
  def apply(times: BatchTimes): StoredTimes = StoredTimes(
    times.firstReadMicros,
    times.boundMs.map(Double.box).orNull,
    times.stages.map(StoredStage(_)).toArray
  )
}

/**
 * The [[LastWindows]] of a batch, in its event. Apart from its times: whoever knows only those would take a second for a batch.
 *
 * @param number    that of the last window
 * @param last      null where none was told
 * @param operators of each node, in milliseconds of each of the last windows
 */
final case class StoredWindows(
    number: Long,
    @JsonInclude(JsonInclude.Include.NON_NULL) last: StoredTimes,
    operators: java.util.Map[String, Array[Double]]
) {
  def windows: LastWindows = LastWindows(
    Option(last).map(_.times(number).copy(of = BatchTimes.Window)),
    operators.asScala.map { case (node, ms) => node -> ms.toList }.toMap
  )
}

/** Writes windows as an event has them. */
object StoredWindows {
  def apply(windows: LastWindows): StoredWindows = StoredWindows(
    windows.last.fold(0L)(_.batch),
    windows.last.map(StoredTimes(_)).orNull,
    windows.operators.map { case (node, ms) => node -> ms.toArray }.asJava
  )
}

/** A [[StageTimes]] in an event. */
final case class StoredStage(
    upstream: Array[Int],
    startMs: Double,
    endMs: Double,
    tasks: Int,
    nodes: Array[StoredNodeTimes],
    path: Array[String],
    restMs: Double
) {
  def stage: StageTimes =
    StageTimes(upstream.toSeq, startMs, endMs, tasks, nodes.toSeq.map(_.node), path.toSeq, restMs)
}

/** Writes a stage as an event has it. */
object StoredStage {
  def apply(stage: StageTimes): StoredStage = StoredStage(
    stage.upstream.toArray,
    stage.startMs,
    stage.endMs,
    stage.tasks,
    stage.nodes.map(StoredNodeTimes(_)).toArray,
    stage.path.toArray,
    stage.restMs
  )
}

/** A [[NodeTimes]] in an event. */
final case class StoredNodeTimes(
    id: String,
    latencyMs: java.lang.Double,
    ewtMs: Double,
    partition: Int,
    executor: String,
    @JsonInclude(JsonInclude.Include.NON_NULL) partitions: StoredPartitions = null
) {
  def node: NodeTimes = NodeTimes(
    id,
    Option(latencyMs).map(_.toDouble),
    ewtMs,
    partition,
    executor,
    Option(partitions).fold(NodePartitions.Unknown)(_.partitions)
  )
}

/** Writes a node's times as an event has them. */
object StoredNodeTimes {
  def apply(node: NodeTimes): StoredNodeTimes =
    StoredNodeTimes(
      node.node,
      node.latencyMs.map(Double.box).orNull,
      node.ewtMs,
      node.partition,
      node.executor,
      Option.when(node.partitions.count > 0)(StoredPartitions(node.partitions)).orNull
    )
}

/** The slowest partitions of a node, in an event: a [[NodePartitions]] with at most [[StoredPartitions.Kept]] of them. */
final case class StoredPartitions(
    count: Int,
    medianMs: Double,
    slowestMs: Double,
    slowest: Array[StoredPartition]
) {
  def partitions: NodePartitions =
    NodePartitions(count, medianMs, slowestMs, slowest.toSeq.map(_.partition))
}

/** Writes partitions as an event has them. */
object StoredPartitions {

  /** So that an event of twenty nodes grows by some ten kilobytes, and not by two megabytes. */
  val Kept = 5

  def apply(of: NodePartitions): StoredPartitions = StoredPartitions(
    of.count,
    of.medianMs,
    of.slowestMs,
    of.slowest.take(Kept).map(StoredPartition(_)).toArray
  )
}

/** A [[PartitionTimes]] in an event. */
final case class StoredPartition(
    number: Int,
    executor: String,
    tookMs: Double,
    ewtMs: Double,
    latencyMs: java.lang.Double,
    records: Long
) {
  def partition: PartitionTimes =
    PartitionTimes(number, executor, tookMs, ewtMs, Option(latencyMs).map(_.toDouble), records)
}

/** Writes a partition as an event has it. */
object StoredPartition {
  def apply(of: PartitionTimes): StoredPartition = StoredPartition(
    of.partition,
    of.executor,
    of.tookMs,
    of.ewtMs,
    of.latencyMs.map(Double.box).orNull,
    of.records
  )
}
