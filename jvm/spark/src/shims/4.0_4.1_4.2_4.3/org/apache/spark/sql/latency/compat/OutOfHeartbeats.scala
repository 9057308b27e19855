package org.apache.spark.sql.latency.compat

import org.apache.spark.util.AccumulatorV2

/** An accumulator that no heartbeat carries. Costs nothing. */
trait OutOfHeartbeats[In, Out] extends AccumulatorV2[In, Out] {
  override def excludeFromHeartbeat: Boolean = true
}
