package org.apache.spark.sql.latency.planning

import org.apache.spark.sql.execution.streaming.AvailableNowTrigger
import org.apache.spark.sql.execution.streaming.OneTimeTrigger
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.latency.compat.StreamExecution
import org.apache.spark.sql.latency.compat.sessionOf

/**
 * What keeps a query's system-time watermark from doing what its user expects, in words. Without state; called once when a query
 * starts, for a walk over its plan.
 */
private[planning] object SystemTimeWarnings {

  def of(query: StreamExecution): Seq[String] = {
    val conf = sessionOf(query).sessionState.conf
    Seq(
      Option.when(!KeptState.in(query.analyzedPlan))(
        "it has a system-time watermark and keeps no state, so there is nothing that the watermark could close; leave it out"
      ),
      Option.when(!conf.getConf(SQLConf.STREAMING_NO_DATA_MICRO_BATCHES_ENABLED))(
        s"with ${SQLConf.STREAMING_NO_DATA_MICRO_BATCHES_ENABLED.key}=false windows close only when a record arrives, in spite of " +
          "the system-time watermark"
      ),
      endsByItself(query)
    ).flatten
  }

  private def endsByItself(query: StreamExecution): Option[String] = query.trigger match {
    case AvailableNowTrigger | OneTimeTrigger => Some(
        "its trigger ends when all is read, so its system-time watermark stands at the start of the run; what waits for a " +
          "second batch of the run, and is older than the lag, is dropped as late"
      )
    case _ => None
  }
}
