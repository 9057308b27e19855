package io.sparklatency.spark

import com.fasterxml.jackson.databind.node.ObjectNode
import io.sparklatency.answer.Work
import io.sparklatency.figures.BatchTimes
import io.sparklatency.figures.Metric
import io.sparklatency.figures.NodePartitions
import io.sparklatency.figures.NodeTimes
import io.sparklatency.figures.StageTimes
import io.sparklatency.path.OperatorPath

/**
 * Who was at work for a batch, as JSON: durations in milliseconds, times in milliseconds since the batch's first read, that itself
 * in milliseconds since the epoch. Without state, for any thread.
 */
private[spark] object WorkJson {
  import JsonFields._

  def put(json: ObjectNode, field: String, work: Option[Work]): Unit = work match {
    case None => json.putNull(field): Unit
    case Some(work) => put(json.putObject(field), work)
  }

  /** Of a node, in the last batches. */
  def put(json: ObjectNode, batches: Seq[Double]): Unit = {
    val operator = json.putObject("operator")
    Metric.ofOperators.foreach(metric => putDouble(operator, metric.field, metric.read(batches)))
  }

  private def put(json: ObjectNode, work: Work): Unit = {
    val (times, path) = (work.times, work.path)
    json.put("of", times.of.name).put("batch", times.batch).put("firstRead", times.firstReadMicros / 1000.0)
      .put("latency", path.latency)
    putDouble(json, "bound", times.boundMs)
    json.put("text", work.text)
    putNames(json, "criticalPath", path.nodes)
    putEach(json, "steps", path.steps)(putStep(_, work, _))
    putEach(json, "stages", times.stages)(putStage(_, path, _, times.of))
  }

  private def putStep(json: ObjectNode, work: Work, step: OperatorPath.Step): Unit = {
    json.put("kind", step.kind.name)
    putNames(json, "nodes", step.nodes)
    json.put("ms", step.ms).put("share", work.path.share(step)).put("text", work.text(step))
    ()
  }

  private def putStage(json: ObjectNode, path: OperatorPath, stage: StageTimes, of: BatchTimes.Of): Unit = {
    val upstream = json.putArray("upstream")
    stage.upstream.foreach(place => upstream.add(place))
    json.put(
      "start",
      stage.startMs
    ).put("end", stage.endMs).put("tasks", stage.tasks).put("rest", stage.restMs)
    putEach(json, "nodes", stage.nodes)(putNode(_, path, _, of))
  }

  private def putNode(json: ObjectNode, path: OperatorPath, node: NodeTimes, of: BatchTimes.Of): Unit = {
    json.put("node", node.node)
    putDouble(json, "latency", node.latencyMs)
    putDouble(json, "share", path.share(node.node))
    putDouble(json, "ewt", Option.when(of != BatchTimes.Window)(node.ewtMs))
    json.put(
      "without",
      path.without(node.node)
    ).put("partition", node.partition).put("executor", node.executor)
    putPartitions(json.putObject("partitions"), node.partitions.take(Shown))
  }

  /** The partitions of one node, by stages: all that are kept, and of how many. */
  def partitions(work: Option[Work], node: String): ObjectNode = {
    val json = LatencyJson.empty
    json.put("node", node).put("of", work.map(_.times.of.name).orNull)
      .put("batch", work.map(of => Long.box(of.times.batch)).orNull)
    putEach(json, "stages", work.toSeq.flatMap(_.times.stages).flatMap(_.node(node)))((one, of) =>
      putPartitions(one, of.partitions)
    )
    json
  }

  private def putPartitions(json: ObjectNode, of: NodePartitions): Unit = {
    val known = of.count > 0
    json.put("count", of.count)
    putDouble(json, "median", Option.when(known)(of.medianMs))
    putDouble(json, "slowest", Option.when(known)(of.slowestMs))
    putDouble(json, "skew", of.skew)
    putEach(json, "of", of.slowest) { (shown, one) =>
      shown.put("partition", one.partition).put("executor", one.executor)
      putDouble(shown, "latency", one.latencyMs)
      shown.put("took", one.tookMs).put("ewt", one.ewtMs).put("records", one.records)
      ()
    }
  }

  /** How many partitions of a node stand beside its figures. */
  private val Shown = 5
}
