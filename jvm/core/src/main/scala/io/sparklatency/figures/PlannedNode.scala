package io.sparklatency.figures

/**
 * A node of a plan that is about to run.
 *
 * @param upstream ids of the nodes whose records come to it next
 * @param planning the id of the accumulator that brings what it records
 * @param markers  those of its query
 */
final case class PlannedNode(
    owner: MarkOwner,
    upstream: Set[String],
    planning: Long,
    timestamp: Option[NodeTimestamp] = None,
    markers: MarkerSettings = MarkerSettings.Off
) {
  def id: String = owner.key.node
}
