package io.sparklatency.figures

import io.sparklatency.recording.LatencySummary

/**
 * One batch of a query: what its nodes measured, joined with what Spark says of it.
 *
 * @param query       the query's name, or its id where it has none or another running query has the same
 * @param runId       none for a batch query, whose "batch" is one execution
 * @param startMs     when the batch was triggered
 * @param committedMs when its results could be seen: the sink had taken them all
 * @param durationsMs where the batch's own time went, as Spark's progress has it
 * @param watermarkMs the event-time watermark by which the batch dropped late records
 * @param droppedLate records that stateful operators dropped for it, where Spark counts them
 * @param nodes       in plan order, upstream first
 * @param folded      how many nodes and tasks of the run were too many by then, and are in `__other__`
 * @param times       who was at work for it; none where tasks go on as long as their query
 * @param admission   what kept its records waiting; none of a batch query
 * @param parts       what made its records as old as they were; none without records at its end
 * @param execution   the id under which Spark's page of SQL queries shows it
 * @param outOfOrder  how far its records came behind the newest event time of the batches before, where that is known
 * @param markers     the latency markers that it carried; none where it carried none
 * @param before      what filled the batch before the one with which its records came in, where that had nodes
 * @param cameIn      what filled that one, where it is an earlier one, as where a window gives out its records later
 * @param usesWatermark whether an operator of it goes by the watermark, as far as is known: else no result waits for that
 * @param tasksFailed how many attempts of tasks have failed since the batch before was committed; 0 where nobody has told
 * @param windows     who was at work when it ended, where batches go on for minutes; else none
 */
final case class Batch(
    query: String,
    queryId: Option[String],
    runId: Option[String],
    batch: Long,
    startMs: Long,
    committedMs: Long,
    inputRows: Long,
    durationsMs: Map[String, Long],
    watermarkMs: Option[Long],
    watermarks: Seq[SourceWatermark],
    droppedLate: Long,
    nodes: Seq[NodeLatencies],
    folded: Int = 0,
    times: Option[BatchTimes] = None,
    admission: Option[Admission] = None,
    parts: Option[AgeParts] = None,
    execution: Option[Long] = None,
    outOfOrder: Option[LatencySummary] = None,
    markers: Option[BatchMarkers] = None,
    before: Option[Filling] = None,
    usesWatermark: Boolean = true,
    cameIn: Option[Filling] = None,
    tasksFailed: Long = 0,
    windows: Option[LastWindows] = None
) {

  /** When its first task began to read. */
  def firstReadMs: Option[Double] = times.map(_.firstReadMicros / 1000.0)

  /** The nodes that records left last. */
  def ends: Seq[NodeLatencies] = NodeLatencies.last(nodes).filter(_.hasMeasured)

  /** Of these, the one where they were oldest. */
  def slowestEnd: Option[NodeLatencies] = ends.maxByOption(_(Measure.E2ELatency).avg)

  /** How far the watermark was behind the clock when the results were committed. */
  def watermarkLagMs: Option[Long] = watermarkMs.map(behind)

  /** The same of the watermark of one column. */
  def watermarkLagMs(of: SourceWatermark): Option[Long] = of.watermarkMs.map(behind)

  /** Its watermarks. One of a source without a record in this run, as after a restart, stood no earlier than the query's, which waits for it. */
  def knownWatermarks: Seq[SourceWatermark] =
    watermarks.map(one => if (one.watermarkMs.isEmpty) one.copy(watermarkMs = watermarkMs) else one)

  private def behind(timeMs: Long): Long = committedMs - timeMs
}
