package io.sparklatency.figures

/**
 * A node of a plan that is about to run.
 *
 * @param upstream ids of the nodes whose records come to it next
 * @param planning the id of the accumulator that brings what it records
 * @param timestamp the column that says when a record happened
 */
final case class PlannedNode(
    owner: MarkOwner,
    upstream: Set[String],
    planning: Long,
    timestamp: Option[String] = None
) {
  def id: String = owner.key.node
}
