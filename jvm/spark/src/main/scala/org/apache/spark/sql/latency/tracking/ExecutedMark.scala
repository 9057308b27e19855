package org.apache.spark.sql.latency.tracking

import io.sparklatency.figures.MarkReadings
import io.sparklatency.figures.Measure
import io.sparklatency.figures.NodeTimestamp
import org.apache.spark.sql.latency.recording.LatencyAccumulator

/**
 * A mark in a plan that was run. It keeps a reference to the mark's accumulator, and copies nothing until [[take]]. Marks of two actions
 * differ by their accumulators, though all else of them is the same. Used by the listener's thread.
 *
 * @param subtopology the stretch of plan in which it stands, without a shuffle inside; numbered from the sources
 * @param upstream    ids of the nodes from which records come here directly
 * @param aside       ids of the nodes of subqueries that its rows wait for
 * @param begins      whether rows come to it that no node has told of and no table holds, as those of a foreachBatch's DataFrame
 * @param readsSource whether no shuffle lies between it and a source
 * @param isAutomatic whether nobody wrote it
 * @param dated       ids of the nodes before it whose timestamps it goes by
 * @param isPassedOn  whether it is no end after all, as others stand behind it of which nobody knew when its stage was planned
 * @param streams     ids of the columns that its plan reads of streams, where somebody wrote it. Nobody else puts one node on two of them,
 *                    and on the scans of one stream, which have columns of their own, an automatic node stands several times
 */
private[latency] final case class ExecutedMark(
    figures: LatencyAccumulator,
    subtopology: Int,
    upstream: Set[String],
    aside: Set[String],
    begins: Boolean,
    timestamp: Option[NodeTimestamp],
    readsSource: Boolean,
    isAutomatic: Boolean,
    streams: Set[Long],
    dated: Set[String],
    isPassedOn: Boolean = false
) {

  /** Two actions may read one mark, as that of a DataFrame that they keep. It is one, though its place in their plans differs. */
  override def equals(other: Any): Boolean = other match {
    case mark: ExecutedMark => mark.figures eq figures
    case _ => false
  }

  override def hashCode: Int = figures.id.hashCode

  def node: String = figures.owner.key.node
  def measure: Measure = figures.owner.measure

  /** How many records have come in and were not given out. Looks at each partition. */
  def records: Long = figures.peek.map(_.summary.records).sum

  /** Whether a task has read it whose reading was not given out. */
  def hasRead: Boolean = !figures.isZero

  /** Whether it is an end of its plan. */
  def isLast: Boolean = figures.isLast && !isPassedOn

  /** What has come in since the last call. */
  def take(): MarkReadings =
    MarkReadings(
      node,
      measure,
      subtopology,
      upstream,
      figures.take(),
      figures.comesIn,
      isLast,
      timestamp = timestamp,
      readsSource = readsSource,
      earlier = figures.takeEarlier(),
      streams = streams,
      aside = aside,
      dated = dated,
      intake = figures.intake
    )
}
