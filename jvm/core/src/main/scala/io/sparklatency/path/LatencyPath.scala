package io.sparklatency.path

import scala.collection.mutable

import io.sparklatency.figures.Measure
import io.sparklatency.figures.NodeLatencies
import io.sparklatency.recording.LatencySummary

/**
 * The way of records through a query's nodes, and where their time went.
 *
 * @param nodes in plan order, upstream first
 */
final class LatencyPath(val nodes: Seq[NodeLatencies]) {
  import LatencyPath._

  // Never changed: a page makes two of each, and immutable ones take twice as long to make.
  private val byId =
    mutable.HashMap.empty[String, NodeLatencies] ++= nodes.iterator.map(node => node.id -> node)
  private val passedOn = mutable.HashSet.empty[String] ++= nodes.iterator.flatMap(_.upstream)

  def node(id: String): NodeLatencies = byId(id)

  /** The nodes whose records come to this one next, of those that are shown. */
  def before(node: NodeLatencies): Seq[NodeLatencies] = node.upstream.flatMap(byId.get)

  /** Whether a node stands upstream of this one. */
  def hasBefore(node: NodeLatencies): Boolean = node.upstream.exists(byId.contains)

  /** Where records are first seen, if they are seen again. */
  val sources: Seq[NodeLatencies] =
    nodes.filter(node => !hasBefore(node) && passedOn.contains(node.id))

  /** Where they are last seen. */
  val terminals: Seq[NodeLatencies] = NodeLatencies.last(nodes)

  /**
   * A node's mean latency minus that of the slowest node before it. At a source it is the age that records arrive with. None if
   * either is unknown, or if they go by different timestamps. Negative if fewer, or younger, records reach the node.
   */
  def own(node: NodeLatencies): Option[Double] = latency(node).avg.flatMap { avg =>
    before(node) match {
      case Seq() => Some(avg)
      case _ if node.goesByAnother => None
      case upstream => slowest(upstream).map { case (_, before) => avg - before }
    }
  }

  /** The nodes that go by another timestamp than those before them. */
  lazy val datedAnew: Seq[NodeLatencies] = nodes.filter(node => node.goesByAnother && hasBefore(node))

  /**
   * The time that arose along the critical path. It is the mean latency at the slowest last node, or the sum of the positive
   * own times on the path if that is more: a node that lets out fewer or younger records than it took in has a negative own
   * time, which does not count. If own times are unknown, the others add up to less.
   */
  lazy val whole: Option[Double] = slowest(terminals).map { case (_, avg) =>
    math.max(avg, ownOnPath.map { case (_, ms) => ms }.filter(_ > 0).sum)
  }.filter(_ > 0)

  /** A node's own time as a part of the whole, from 0 to 1. On the critical path shares add up to 1 if all are known. */
  def share(node: NodeLatencies): Option[Double] = share(own(node))

  /** The same of an own time. */
  def share(own: Option[Double]): Option[Double] =
    for (own <- own; whole <- whole) yield math.max(0, math.min(1, own / whole))

  /** What was measured at the end of the query. */
  def atEnd(measure: Measure): LatencySummary = merged(terminals, measure)

  /** From the slowest last node back along the slowest upstream nodes: ids, upstream first. */
  lazy val critical: Seq[String] = {
    def follow(node: NodeLatencies, seen: List[String]): List[String] =
      slowest(before(node).filterNot(up => seen.contains(up.id))) match {
        case Some((next, _)) => follow(next, next.id :: seen)
        case None => seen
      }
    slowest(terminals).fold(List.empty[String]) { case (last, _) => follow(last, last.id :: Nil) }
  }

  /**
   * The node on the critical path with the largest own time. None where the path has one node, because that is no choice; where no step
   * takes time; and where the time that is no step's is more, as between two timestamps of a record.
   */
  def slowestStep: Option[NodeLatencies] =
    if (critical.size < 2 || aheadMs.nonEmpty) None
    else ownOnPath.filter { case (_, ms) => ms > 0 }.maxByOption { case (_, ms) => ms }
      .collect { case (node, ms) if ms >= unknown => node }

  /**
   * How far records were ahead of the clock on average when they were first seen, if that is more than all steps took since: then nobody
   * knows what made them as old as they are.
   */
  def aheadMs: Option[Double] = critical.headOption.map(node).filterNot(hasBefore).flatMap(own).map(-_)
    .filter(ms => ms >= Visible && ms > ownOnPath.map { case (_, own) => own }.filter(_ > 0).sum)

  /** What of the whole nobody knows where it arose. */
  private def unknown: Double = whole.getOrElse(0.0) - ownOnPath.map { case (_, ms) => ms }.filter(_ > 0).sum

  private lazy val ownOnPath = critical.flatMap(byId.get).flatMap(node => own(node).map(node -> _))

  /** Where the time of the records went that reached the end of the query. */
  lazy val split: LatencySplit = LatencySplit(
    sources.nonEmpty,
    merged(sources, Measure.E2ELatency),
    atEnd(Measure.E2ELatency),
    atEnd(Measure.Commit),
    isComparable = datedAnew.isEmpty
  )

  private def merged(of: Seq[NodeLatencies], measure: Measure) = LatencySummary.merge(of.map(_(measure)))

  private def latency(node: NodeLatencies): LatencySummary = node.compared

  private def slowest(nodes: Seq[NodeLatencies]): Option[(NodeLatencies, Double)] =
    nodes.flatMap(node => latency(node).avg.map(node -> _)).maxByOption(_._2)
}

private[sparklatency] object LatencyPath {

  /** Less than this many milliseconds is not seen in any figure. */
  val Visible = 0.5
}
