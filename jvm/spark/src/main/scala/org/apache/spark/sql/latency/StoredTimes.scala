package org.apache.spark.sql.latency

import io.sparklatency.figures.BatchTimes
import io.sparklatency.figures.NodeTimes
import io.sparklatency.figures.StageTimes

/**
 * Who was at work for a batch, in its event or in Spark's store: a [[BatchTimes]] in types that Jackson reads as it wrote them. About a
 * hundred bytes for each node. Immutable: nobody may change its arrays. Its field names, and those of the classes below, stand in event
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
    executor: String
) {
  def node: NodeTimes = NodeTimes(id, Option(latencyMs).map(_.toDouble), ewtMs, partition, executor)
}

/** Writes a node's times as an event has them. */
object StoredNodeTimes {
  def apply(node: NodeTimes): StoredNodeTimes =
    StoredNodeTimes(
      node.node,
      node.latencyMs.map(Double.box).orNull,
      node.ewtMs,
      node.partition,
      node.executor
    )
}
