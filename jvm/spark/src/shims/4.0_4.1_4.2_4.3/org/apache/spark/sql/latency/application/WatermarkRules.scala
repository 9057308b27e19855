package org.apache.spark.sql.latency.application

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.latency.compat.SparkSession
import org.apache.spark.sql.latency.marking.ContinuousMode
import org.apache.spark.sql.latency.marking.IdleTimeoutHint
import org.apache.spark.sql.latency.marking.ResolveSystemTimeWatermark
import org.apache.spark.sql.latency.marking.SystemTimeFilters
import org.apache.spark.sql.latency.marking.SystemTimeWatermarkHint
import org.apache.spark.sql.latency.planning.IdleTimeout
import org.apache.spark.sql.latency.planning.SystemTimeQueries
import org.apache.spark.sql.latency.planning.SystemTimeWatermarkStrategy

/** The rules of system-time watermarks and idle timeouts. Called once for each session that starts. Without state. */
private[application] object WatermarkRules {
  import LatencyExtensions.ofSession

  def addTo(extensions: SparkSessionExtensions): Unit = {
    extensions.injectHintResolutionRule(_ => SystemTimeWatermarkHint)
    extensions.injectHintResolutionRule(_ => ContinuousMode)
    extensions.injectResolutionRule(ofSession(session => ResolveSystemTimeWatermark(listenIn(session))))
    extensions.injectResolutionRule(ofSession(session => IdleTimeoutHint(listenIn(session))))
    extensions.injectResolutionRule(ofSession(IdleTimeout(_, LatencyApplication)))
    extensions.injectOptimizerRule(_ => SystemTimeFilters)
    extensions.injectPlannerStrategy(_ => SystemTimeWatermarkStrategy)
  }

  private def listenIn(session: SparkSession): () => Unit =
    () => SystemTimeQueries.listenIn(session, LatencyApplication)
}
