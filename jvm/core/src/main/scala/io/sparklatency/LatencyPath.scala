package io.sparklatency

/**
 * The way of records through the nodes of a query, and where on it their time went.
 *
 * @param nodes in plan order, upstream first
 */
final class LatencyPath(val nodes: Seq[NodeRecord]) {
  private val byId = nodes.map(node => node.id -> node).toMap
  private val passedOn = nodes.flatMap(_.upstream).toSet

  /** Where records are first seen, if they are seen again. */
  val sources: Seq[NodeRecord] =
    nodes.filter(node => known(node.upstream).isEmpty && passedOn.contains(node.id))

  /** Where they are last seen. */
  val terminals: Seq[NodeRecord] = nodes.filterNot(node => passedOn.contains(node.id))

  /**
   * The mean time between a node and the slowest of those upstream of it; at a source, the age that records arrive with. None
   * where either is unknown. Negative where fewer, or younger, records reach the node.
   */
  def own(node: NodeRecord): Option[Double] = latency(node).avg.flatMap { avg =>
    known(node.upstream) match {
      case Seq() => Some(avg)
      case upstream => slowest(upstream).map { case (_, before) => avg - before }
    }
  }

  /**
   * The time that arose along the critical path: the slowest terminal's mean latency; more than that where fewer, or younger,
   * records come out of a node than went in, because its own time is then negative and left out. Where own times are unknown the
   * others add up to less.
   */
  lazy val whole: Option[Double] = slowest(terminals).map { case (_, avg) =>
    math.max(avg, ownOnPath.map { case (_, ms) => ms }.filter(_ > 0).sum)
  }.filter(_ > 0)

  /** What part of the whole arose at a node, between 0 and 1. Those of the critical path add up to 1, if all are known. */
  def share(node: NodeRecord): Option[Double] =
    for (own <- own(node); whole <- whole) yield math.max(0, math.min(1, own / whole))

  /** What was measured at the end of the query. */
  def atEnd(measure: Measure): LatencySummary = merged(terminals, measure)

  /** From the slowest terminal back along the slowest upstream node: ids, upstream first. */
  lazy val critical: Seq[String] = {
    def follow(node: NodeRecord, seen: List[String]): List[String] =
      slowest(known(node.upstream).filterNot(up => seen.contains(up.id))) match {
        case Some((next, _)) => follow(next, next.id :: seen)
        case None => seen
      }
    slowest(terminals).fold(List.empty[String]) { case (last, _) => follow(last, last.id :: Nil) }
  }

  /** The node of the critical path with the greatest own time. */
  def slowestStep: Option[NodeRecord] = ownOnPath.maxByOption(_._2).map(_._1)

  private lazy val ownOnPath = critical.flatMap(byId.get).flatMap(node => own(node).map(node -> _))

  /** Where the time of the records went that reached the end of the query. */
  def split: LatencySplit = {
    val (first, last) = (merged(sources, Measure.E2ELatency), atEnd(Measure.E2ELatency))
    val committed = atEnd(Measure.Commit)
    LatencySplit(
      queuing = first,
      processing = if (first.count == 0) None else Some(ProcessingDelay.between(first, last)),
      commit = if (committed.count == 0) None else Some(ProcessingDelay.between(last, committed)),
      committed
    )
  }

  private def merged(of: Seq[NodeRecord], measure: Measure) = LatencySummary.merge(of.map(_(measure)))

  private def known(ids: Seq[String]): Seq[NodeRecord] = ids.flatMap(byId.get)

  private def latency(node: NodeRecord): LatencySummary = node(Measure.E2ELatency)

  private def slowest(nodes: Seq[NodeRecord]): Option[(NodeRecord, Double)] =
    nodes.flatMap(node => latency(node).avg.map(node -> _)).maxByOption(_._2)
}

/**
 * The age of records at the end of their way, in three parts.
 *
 * @param queuing    from the record's timestamp until the query first saw it; empty without a node at the sources
 * @param processing from there to the terminal nodes; none where either is unknown
 * @param commit     from there until the results of the batch were committed; none where that is unknown
 * @param committed  all of it: the age at the commit
 */
final case class LatencySplit(
    queuing: LatencySummary,
    processing: Option[ProcessingDelay],
    commit: Option[ProcessingDelay],
    committed: LatencySummary
)
