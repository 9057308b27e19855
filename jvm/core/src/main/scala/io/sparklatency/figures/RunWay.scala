package io.sparklatency.figures

/**
 * The way of a run's records from node to node, as its plans have shown it, and by which timestamps they are measured there. Not
 * thread-safe.
 *
 * @param shows whether a node shows. Of those that do not the newest are known: there may be others in each batch, where a function makes
 *              up their ids
 */
private final class RunWay(shows: String => Boolean) {
  private var before = Map.empty[String, Seq[String]]
  private var timestamps = Map.empty[String, NodeTimestamp]
  private var passedOn = Set.empty[String]
  private var inOrder = Seq.empty[String]
  private val unshown = new NewestIds(RunWay.UnshownKept)

  /** The nodes from which records come to one next. */
  def upstream(node: String): Seq[String] = before.getOrElse(node, Nil)

  /** The same as it is known now. */
  def upstreamNow: String => Seq[String] = {
    val now = before
    now.getOrElse(_, Nil)
  }

  def timestamp(node: String): Option[NodeTimestamp] = timestamps.get(node)

  /** Whether records go on from a node to another. */
  def goesOn(node: String): Boolean = passedOn.contains(node)

  /** Of all plans that were told before they ran, upstream first. */
  def inPlans: Seq[String] = inOrder

  /** A plan is about to run. */
  def planned(nodes: Seq[PlannedNode]): Unit = {
    goesOnFrom(nodes.flatMap(node => node.upstream ++ node.aside))
    inOrder = NodeLatencies.ordered(inOrder, nodes.map(_.id).distinct)
    nodes.foreach { node =>
      linked(node.id, node.upstream)
      dated(node.id, node.upstream, node.timestamp)
    }
    forgetBut(nodes.map(_.id))
  }

  def goesOnFrom(nodes: Iterable[String]): Unit = passedOn ++= nodes

  /** A batch without data may have no source in its plan: what is known of the way stays. */
  def linked(node: String, upstream: Iterable[String]): Unit =
    before += node -> (this.upstream(node) ++ upstream).distinct.sorted

  /**
   * A plan that lacks a node before this one, as that of a batch without data lacks automatic nodes at sources, does not know whether the
   * two go by one timestamp.
   */
  def dated(node: String, upstream: String => Boolean, timestamp: Option[NodeTimestamp]): Unit =
    timestamp.foreach { read =>
      val lacksOne = !this.upstream(node).forall(upstream)
      val wasAnother = timestamps.get(node).exists(_.isAnother)
      timestamps += node -> read.copy(isAnother = read.isAnother || lacksOne && wasAnother)
    }

  /** As an event tells it. */
  def replay(node: NodeLatencies): Unit = {
    linked(node.id, node.upstream)
    node.timestamp.foreach(timestamps += node.id -> _)
  }

  /** All of this plan stay. */
  def forgetBut(plan: Seq[String]): Unit = {
    val gone = unshown.come(plan.filterNot(shows)).filterNot(shows)
    if (gone.nonEmpty) {
      before = (before -- gone).map { case (node, upstream) => node -> upstream.filterNot(gone) }
      timestamps --= gone
      passedOn --= gone
      inOrder = inOrder.filterNot(gone)
    }
  }
}

private object RunWay {

  /** Of nodes that do not show so many are known at least. */
  private val UnshownKept = 1000
}
