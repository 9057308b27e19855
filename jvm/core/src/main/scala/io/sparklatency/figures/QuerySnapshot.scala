package io.sparklatency.figures

import scala.annotation.tailrec

import io.sparklatency.recording.LatencySummary

/**
 * A query's figures at one instant.
 *
 * @param nodes     in plan order, upstream first
 * @param folded    how many nodes and tasks were too many and are in `__other__`
 * @param lastBatch the last batch whose results were committed
 * @param oldestUncommittedMs how old the oldest record is that the query has read and not committed, as far as its tasks have told
 * @param covers    what the window of its figures covers
 * @param times     who was at work for the last batch that had records
 * @param explained the last batch of which it is known what made its records old
 */
final case class QuerySnapshot(
    name: String,
    id: Option[String],
    runId: Option[String],
    batches: Long,
    nodes: Seq[NodeSnapshot],
    folded: Int,
    lastBatch: Option[Batch],
    oldestUncommittedMs: Option[Long] = None,
    covers: WindowSettings = WindowSettings(),
    times: Option[BatchTimes] = None,
    explained: Option[Batch] = None
) {

  /** All nodes on the way to a node, nearest first. */
  def upstreamOf(node: NodeSnapshot): Seq[NodeSnapshot] = {
    val byId = nodes.map(node => node.id -> node).toMap
    @tailrec
    def follow(front: Seq[NodeSnapshot], seen: Seq[NodeSnapshot]): Seq[NodeSnapshot] = {
      val next = front.flatMap(_.upstream).distinct.flatMap(byId.get).diff(seen)
      if (next.isEmpty) seen else follow(next, seen ++ next)
    }
    follow(Seq(node), Nil)
  }

  /** The window's figures of every node, as those of a batch. */
  lazy val window: Seq[NodeLatencies] = nodes.map(_.latencies(_.window))

  /** All that every node has recorded, likewise. */
  def totals: Seq[NodeLatencies] = nodes.map(_.latencies(_.total))

  /** Whether no record with a timestamp came within the window. */
  lazy val isSilent: Boolean = window.forall(_(Measure.E2ELatency).count == 0)

  /** The figures of the last batch that reached each node. A batch without data, as Spark runs them, reaches few. */
  def lastBatches: Seq[NodeLatencies] = nodes.map(node => NodeLatencies(node.id, node.upstream, node.batch))

  /** The window's figures; in silence, for a look at what was last known, each node's last batch. */
  def latest: Seq[NodeLatencies] = if (isSilent) lastBatches else window
}

/**
 * @param upstream ids of the nodes whose records come to this one next
 * @param batch    what the node measured in the last batch that reached it
 * @param operator its operator latency in each of the last batches that tell it: see [[OperatorLatency]]
 */
final case class NodeSnapshot(
    id: String,
    upstream: Seq[String],
    measures: Map[Measure, MeasureSnapshot],
    batch: Map[Measure, LatencySummary],
    operator: Seq[Double] = Nil
) {

  private[figures] def latencies(of: MeasureSnapshot => LatencySummary): NodeLatencies =
    NodeLatencies(id, upstream, measures.map { case (measure, figures) => measure -> of(figures) })

  def operatorLatencyAvg: Option[Double] = OperatorLatency.average(operator)

  def lastLatency: LatencySummary = batch.getOrElse(Measure.E2ELatency, LatencySummary.empty)
}
