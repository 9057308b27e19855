package org.apache.spark.sql.latency.marking

import io.sparklatency.figures.MarkerKey
import io.sparklatency.figures.RunFigures
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/**
 * Refuses bad node ids, at the call and in words. Costs one walk over the plan. Without state; called in the user's thread,
 * or in the thread that analyzes a hint.
 */
private[latency] object NodeIds {
  private val Longest = 256

  /** @throws IllegalArgumentException where `node` is empty, reserved, too long, or in `plan` already */
  def check(node: String, plan: LogicalPlan): Unit = {
    if (node == null || node.trim.isEmpty) throw new IllegalArgumentException("a node id must not be empty")
    if (node == RunFigures.Other)
      throw new IllegalArgumentException(
        s"the node id '$node' is taken: it stands for nodes that are too many to show"
      )
    if (node == MarkerKey.Commit)
      throw new IllegalArgumentException(
        s"the node id '$node' is taken: it stands for the commit, where latency markers end"
      )
    if (node.length > Longest)
      throw new IllegalArgumentException(
        s"the node id '${node.take(32)}…' has ${node.length} characters; at most $Longest are allowed"
      )
    if (plan.collectWithSubqueries { case mark: LatencyMark if mark.node == node => mark }.nonEmpty)
      throw duplicate(node)
  }

  /**
   * Checks a whole plan: two marks of one id would write into one figure. The same mark twice, as in a self-join, is no
   * mistake. Spark runs it for each plan of the session that it analyzes, in the thread that analyzes. Costs one walk.
   */
  object Unique extends (LogicalPlan => Unit) {
    override def apply(plan: LogicalPlan): Unit = {
      val marks = plan.collectWithSubqueries { case mark: LatencyMark => mark }.groupBy(_.node)
      marks.collectFirst {
        case (node, several) if several.size > 1 && several.map(_.markId).distinct.size > 1 => node
      }.foreach(node => throw duplicate(node))
    }
  }

  private def duplicate(node: String) = new IllegalArgumentException(
    s"node '$node' is in this plan already; every node of a query needs an id of its own"
  )
}
