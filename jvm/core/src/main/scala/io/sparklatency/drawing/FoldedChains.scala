package io.sparklatency.drawing

import io.sparklatency.figures.NodeLatencies
import io.sparklatency.path.LatencyPath

/**
 * Of a long graph, chains of nodes that add nothing are drawn as one: nodes between others, each with one before and one behind
 * it, whose share rounds to nothing, and that are not among those that were at work longest. The last node of a chain stands for it,
 * because its records are those that have passed all.
 *
 * @param nodes  those that are drawn, in plan order
 * @param hidden the ids behind a drawn one that stands for several, its own among them
 */
private[drawing] final case class FoldedChains(nodes: Seq[NodeLatencies], hidden: Map[String, Seq[String]])

private[drawing] object FoldedChains {

  /** So many columns fit beside each other. */
  private val Fitting = 6

  /** What is written as less than 1 % is next to nothing, and this and less is nothing. */
  private val Nothing = 0.005

  /** Of what the node took that took longest: so long takes one that is not hidden, either. */
  private val Much = 0.5

  /** @param worked a node's share of what its batch took: ages hardly grow at the slow step of a batch whose records waited long for it */
  def of(path: LatencyPath, worked: String => Option[Double]): FoldedChains =
    if (GraphLayout.columns(path.nodes) <= Fitting) FoldedChains(path.nodes, Map.empty)
    else {
      val behind = path.nodes.flatMap(node => node.upstream.map(_ -> node.id)).groupMap(_._1)(_._2)
      val most = path.nodes.flatMap(node => worked(node.id)).maxOption.getOrElse(0.0)
      def works(node: NodeLatencies) = worked(node.id).exists(share => share > 0 && share >= most * Much)
      def folds(node: NodeLatencies) = node.upstream.size == 1 && behind.get(node.id).exists(_.size == 1) &&
        path.share(node).exists(_ < Nothing) && !works(node)
      val chains = path.nodes.filter(folds).foldLeft(Vector.empty[Vector[NodeLatencies]]) { (chains, node) =>
        chains.indexWhere(_.last.id == node.upstream.head) match {
          case -1 => chains :+ Vector(node)
          case i => chains.updated(i, chains(i) :+ node)
        }
      }.filter(_.size > 1)
      val standing = chains.map(chain => chain.last.id -> chain).toMap
      val gone = chains.flatMap(_.init.map(_.id)).toSet
      FoldedChains(
        path.nodes.filterNot(node => gone(node.id)).map(node =>
          standing.get(node.id).fold(node)(chain => node.copy(upstream = chain.head.upstream))
        ),
        standing.map { case (last, chain) => last -> chain.map(_.id) }
      )
    }
}
