package io.sparklatency.figures

import scala.collection.mutable

import io.sparklatency.recording.LatencySummary

/**
 * @param upstream  ids of the nodes whose records come to this one next
 * @param ended     the ages without those that running tasks have shown, by which nodes are compared; none where they are all the same
 * @param held      where its records come from an operator that may hold them
 */
final case class NodeLatencies(
    id: String,
    upstream: Seq[String],
    measures: Map[Measure, LatencySummary],
    timestamp: Option[NodeTimestamp] = None,
    ended: Option[LatencySummary] = None,
    held: Option[Held] = None
) {
  def apply(measure: Measure): LatencySummary = measures.getOrElse(measure, LatencySummary.empty)

  /** The ages by which this node is compared with others: of records that all of them have told of. */
  def compared: LatencySummary = ended.getOrElse(apply(Measure.E2ELatency))

  /** Whether its ages are by another timestamp than those of the nodes before it. */
  def goesByAnother: Boolean = timestamp.exists(_.isAnother)

  /** Whether the clock had not come to some record when it passed. */
  def isAheadOfClock: Boolean = apply(Measure.E2ELatency).aheadOfClock > 0

  /** Whether any record passed, with a timestamp or without. */
  def hasRecords: Boolean = !apply(Measure.E2ELatency).isEmpty

  /** Whether one with a timestamp did. */
  def hasMeasured: Boolean = apply(Measure.E2ELatency).count > 0
}

object NodeLatencies {

  /**
   * Those behind which no other stands. Where some of these have a commit latency, only they: what passes another, as that of a table
   * which a stream is joined with, leaves the query nowhere.
   */
  def last(nodes: Seq[NodeLatencies]): Seq[NodeLatencies] = {
    val passedOn = mutable.HashSet.empty[String] ++= nodes.iterator.flatMap(_.upstream)
    val last = nodes.filterNot(node => passedOn(node.id))
    val committed = last.filter(_.measures.contains(Measure.Commit))
    if (committed.isEmpty) last else committed
  }

  /**
   * The nodes that are known and those of a plan. Of the plan's the known ones take their places among all in its order, and
   * each other stands before the one that comes next in it.
   */
  def ordered(known: Seq[String], plan: Seq[String]): Seq[String] = {
    val inPlan = plan.filter(known.contains).iterator
    val places = known.map(id => if (plan.contains(id)) inPlan.next() else id)
    val (all, _) = plan.foldRight((places, Option.empty[String])) { case (id, (places, next)) =>
      val (before, behind) = places.span(!next.contains(_))
      (if (places.contains(id)) places else before ++ (id +: behind), Some(id))
    }
    all
  }
}
