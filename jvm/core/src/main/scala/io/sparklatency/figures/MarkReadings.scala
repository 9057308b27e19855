package io.sparklatency.figures

/**
 * What one mark of a plan gave out when its execution ended. A node may be planned several times within one execution, as Spark
 * does it in a self-join, or when it plans the rest of a running query anew: then there are several of these.
 *
 * @param subtopology the stretch of plan without a shuffle in which the mark stands, numbered from the sources
 * @param upstream    ids of the nodes whose records come to it next
 * @param comesIn     whether its records come from a source, and others come out because an operator keeps state
 * @param isLast      whether it is the last one of its plan: its ages are those at the commit
 * @param running     what of it still runs, where the execution has not ended
 * @param readsSource whether no shuffle lies between it and a source
 * @param earlier     of each executor the first reading of those in place of which that of another job stands
 * @param streams     ids of what it reads of streams in this batch. What has none in common reads different streams, each as far as it goes
 * @param aside       ids of the nodes of subqueries that its rows wait for, of which no record comes to it
 * @param dated       ids of the nodes before it whose timestamps it goes by
 * @param readings    one of each partition that it has read
 * @param intake      which of the ways into the node's operator it stands on, where there are several as into a join: the partitions of each
 *                    count
 */
final case class MarkReadings(
    node: String,
    measure: Measure,
    subtopology: Int,
    upstream: Set[String],
    readings: Iterable[Reading],
    comesIn: Boolean = false,
    isLast: Boolean = false,
    running: Seq[RunningSlice] = Nil,
    timestamp: Option[NodeTimestamp] = None,
    readsSource: Boolean = false,
    earlier: Iterable[TaskSlice] = Nil,
    streams: Set[Long] = Set.empty,
    aside: Set[String] = Set.empty,
    dated: Set[String] = Set.empty,
    intake: Int = 0
) {
  private def records: Long = readings.iterator.map(_.summary.records).sum
  private def first: Long = readings.iterator.map(_.attempt.id).minOption.getOrElse(Long.MaxValue)

  private def isOfAnotherStream(other: MarkReadings): Boolean =
    streams.nonEmpty && other.streams.nonEmpty && !streams.exists(other.streams)
}

object MarkReadings {

  /**
   * One reading of each partition, however often the node was planned. Of several plannings the one stands that read most: partitions of
   * different ones need not be the same, as where Spark joins small ones. Where Spark reads a topic as two streams, as for a self-join, one
   * may go further in a batch and catch up in the next: there the first in the plan stands, always.
   */
  def standing(marks: Seq[MarkReadings]): Iterable[Reading] = marks match {
    case Seq(planned) => planned.readings // once, as a rule
    case _ =>
      marks.groupBy(_.intake).values.flatMap { plannings =>
        plannings.filterNot(_.isOfAnotherStream(plannings.head))
          .maxBy(mark => (mark.records, -mark.first)).readings
      }
  }
}
