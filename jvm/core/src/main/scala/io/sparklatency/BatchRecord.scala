package io.sparklatency

/**
 * One batch of a query: what its nodes measured, joined with what Spark says of it.
 *
 * @param query       the query's name, or its id where it has none
 * @param runId       none for a batch query, whose "batch" is one execution
 * @param startMs     when the batch was triggered
 * @param committedMs when its results could be seen: the sink had taken them all
 * @param durationsMs where the batch's own time went, as Spark's progress has it
 * @param watermarkMs the event-time watermark by which the batch dropped late records
 * @param droppedLate records that stateful operators dropped for it, where Spark counts them
 * @param nodes       in plan order, upstream first
 */
final case class BatchRecord(
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
    nodes: Seq[NodeRecord]
) {

  /** How far the watermark was behind the clock when the results were committed. */
  def watermarkLagMs: Option[Long] = watermarkMs.map(committedMs - _)
}

/** @param upstream ids of the nodes whose records come to this one next */
final case class NodeRecord(id: String, upstream: Seq[String], measures: Map[Measure, LatencySummary]) {
  def apply(measure: Measure): LatencySummary = measures.getOrElse(measure, LatencySummary.empty)

  /** Whether any record passed, with a timestamp or without. */
  def hasRecords: Boolean = !apply(Measure.E2ELatency).isEmpty
}

object NodeRecord {

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

/**
 * The watermark of one watermarked column.
 *
 * @param source      what it comes from, `kafka[orders]` say
 * @param delayMs     the delay that `withWatermark` was given
 * @param watermarkMs the greatest event time seen by this run, less the delay; none before there was one
 * @param holdsBack   whether the query's watermark is this one
 */
final case class SourceWatermark(
    source: String,
    column: String,
    delayMs: Long,
    watermarkMs: Option[Long],
    holdsBack: Boolean
)
