package org.apache.spark.sql.latency.planning

import io.sparklatency.figures.Measure
import io.sparklatency.recording.LatencyRecorder
import io.sparklatency.spark.base.LatencyConf
import org.apache.spark.sql.latency.compat.SparkSession
import org.apache.spark.sql.latency.recording.LatencyAccumulator

/**
 * Makes the accumulators of the marks in the plan that `session` is about to run in this thread. Each is registered with
 * Spark, and known to the application as waiting for a commit. Costs a few look-ups for each mark of a plan. Only the
 * planning thread may use it.
 */
private[latency] final class MarkAccumulators(session: SparkSession, application: MarkedApplication) {
  private val query = new PlannedQuery(session, application)

  /** A registered accumulator for a node. */
  def make(
      node: String,
      measure: Measure = Measure.E2ELatency,
      intake: Int = 0,
      watermark: Option[Long] = None
  ): LatencyAccumulator = {
    val owner = query.owner(node).copy(measure = measure)
    val hasBatches = CurrentQuery.hasBatches(session)
    val made = new LatencyAccumulator(
      owner,
      intake,
      publishMs = if (hasBatches) LatencyConf(session).publishAfter else LatencyRecorder.PublishMs,
      watermark,
      application.taskFigures,
      hasBatches
    )
    made.register(session.sparkContext)
    application.planned(made)
    made
  }
}
