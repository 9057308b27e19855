package io.sparklatency.figures

/**
 * A node of a plan that is about to run.
 *
 * @param upstream ids of the nodes whose records come to it next
 */
final case class PlannedNode(owner: MarkOwner, upstream: Set[String]) {
  def id: String = owner.key.node
}
