package io.sparklatency.path

import io.sparklatency.figures.NodeLatencies

/**
 * Which step of a query is slow: the node on the critical path with the largest own time. There is none where the path has one
 * node, because that is no choice, or where no step takes time. Every surface takes it from here.
 */
object SlowestStep {

  /** @param own the nodes of the critical path whose own time is known, with that time in milliseconds */
  def of(critical: Seq[String], own: Seq[(NodeLatencies, Double)]): Option[NodeLatencies] =
    if (critical.size < 2) None
    else own.filter { case (_, ms) => ms > 0 }.maxByOption { case (_, ms) => ms }.map { case (node, _) =>
      node
    }
}
