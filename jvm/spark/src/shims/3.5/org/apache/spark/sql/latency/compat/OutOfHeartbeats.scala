package org.apache.spark.sql.latency.compat

import org.apache.spark.util.AccumulatorV2

/**
 * An accumulator that no heartbeat carries while its task runs: in Spark 3.5 it must be zero until then. Once the task has ended it
 * changes no more, and a heartbeat that still finds it may carry it.
 */
trait OutOfHeartbeats[In, Out] extends AccumulatorV2[In, Out]
