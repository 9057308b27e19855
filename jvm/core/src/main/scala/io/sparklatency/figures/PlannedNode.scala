package io.sparklatency.figures

/**
 * A node of a plan that is about to run.
 *
 * @param upstream ids of the nodes whose records come to it next
 * @param planning the id of the accumulator that brings what it records
 * @param markers  those of its query
 * @param aside    ids of the nodes of subqueries that its rows wait for
 * @param hasBatches whether its query runs in batches: not so in real-time and continuous mode
 */
final case class PlannedNode(
    owner: MarkOwner,
    upstream: Set[String],
    planning: Long,
    timestamp: Option[NodeTimestamp] = None,
    markers: MarkerSettings = MarkerSettings.Off,
    aside: Set[String] = Set.empty,
    hasBatches: Boolean = true
) {
  def id: String = owner.key.node
}
