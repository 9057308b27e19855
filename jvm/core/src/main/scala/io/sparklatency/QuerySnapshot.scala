package io.sparklatency

import scala.annotation.tailrec

/**
 * A query's figures at one instant.
 *
 * @param nodes     in plan order, upstream first
 * @param folded    how many nodes and tasks were too many and are in `__other__`
 * @param lastBatch the last batch whose results were committed
 * @param oldestUncommittedMs how old the oldest record is that the query has read and not committed, as far as its tasks have told
 */
final case class QuerySnapshot(
    name: String,
    id: Option[String],
    runId: Option[String],
    batches: Long,
    nodes: Seq[NodeView],
    folded: Int,
    lastBatch: Option[BatchRecord],
    oldestUncommittedMs: Option[Long] = None
) {

  /** All nodes on the way to a node, nearest first. */
  def upstreamOf(node: NodeView): Seq[NodeView] = {
    val byId = nodes.map(node => node.id -> node).toMap
    @tailrec
    def follow(front: Seq[NodeView], seen: Seq[NodeView]): Seq[NodeView] = {
      val next = front.flatMap(_.upstream).distinct.flatMap(byId.get).diff(seen)
      if (next.isEmpty) seen else follow(next, seen ++ next)
    }
    follow(Seq(node), Nil)
  }

  /** The window's figures of every node, as those of a batch. */
  lazy val window: Seq[NodeRecord] = nodes.map { node =>
    NodeRecord(
      node.id,
      node.upstream,
      node.measures.map { case (measure, figures) => measure -> figures.window }
    )
  }

  /** Whether no record with a timestamp came within the window. */
  lazy val isSilent: Boolean = window.forall(_(Measure.E2ELatency).count == 0)

  /** The figures of the last batch that reached each node. A batch without data, as Spark runs them, reaches few. */
  def lastBatches: Seq[NodeRecord] = nodes.map(node => NodeRecord(node.id, node.upstream, node.batch))

  /** The window's figures; in silence, for a look at what was last known, each node's last batch. */
  def latest: Seq[NodeRecord] = if (isSilent) lastBatches else window
}

/**
 * @param upstream ids of the nodes whose records come to this one next
 * @param batch    what the node measured in the last batch that reached it
 */
final case class NodeView(
    id: String,
    upstream: Seq[String],
    measures: Map[Measure, NodeSnapshot],
    batch: Map[Measure, LatencySummary]
) {

  def lastLatency: LatencySummary = batch.getOrElse(Measure.E2ELatency, LatencySummary.empty)
}
