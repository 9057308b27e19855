package org.apache.spark.sql.latency.application

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.latency.planning.NewerWatermarks

/** The rule that refuses watermarks which only newer lines have. Called once for each session that starts. Without state. */
private[application] object WatermarkRules {
  def addTo(extensions: SparkSessionExtensions): Unit =
    extensions.injectResolutionRule(session => NewerWatermarks(session))
}
