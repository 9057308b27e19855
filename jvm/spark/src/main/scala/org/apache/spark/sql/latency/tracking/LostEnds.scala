package org.apache.spark.sql.latency.tracking

import java.util.UUID

import io.sparklatency.time.Clock
import org.apache.spark.scheduler.SparkListener
import org.apache.spark.scheduler.SparkListenerEvent
import org.apache.spark.scheduler.SparkListenerExecutorMetricsUpdate
import org.apache.spark.sql.streaming.StreamingQueryListener.QueryTerminatedEvent

/**
 * Tells the ends of runs of which Spark has dropped the event: else they would be said to run until the driver ends, and keep what is kept
 * of a run. Looks only once events were dropped, and every five minutes: what is in the queue when a run ends is to come first.
 *
 * Costs a comparison for each event, and a look at each run that goes on. Only our listener's thread may call it.
 *
 * @param names   has the runs whose end was not told yet
 * @param dropped how many events Spark has dropped
 * @param tell    takes an end, and forgets the run
 */
private[latency] final class LostEnds(names: QueryNames, dropped: () => Long, clock: Clock)(
    tell: QueryTerminatedEvent => Unit
) extends SparkListener {
  private var suspects = Set.empty[UUID]
  private var lookedMs = 0L

  override def onOtherEvent(event: SparkListenerEvent): Unit = lookNowAndThen()

  /** Also comes while nothing runs: the driver's own heartbeat. */
  override def onExecutorMetricsUpdate(update: SparkListenerExecutorMetricsUpdate): Unit = lookNowAndThen()

  private def lookNowAndThen(): Unit = if (dropped() > 0) {
    val nowMs = clock.millis()
    if (nowMs - lookedMs >= LostEnds.EveryMs) {
      lookedMs = nowMs
      look()
    }
  }

  private def look(): Unit = {
    val (again, first) = names.queries.filterNot(_.isActive).partition(query => suspects(query.runId))
    suspects = first.map(_.runId).toSet
    again.foreach(query =>
      tell(new QueryTerminatedEvent(query.id, query.runId, query.exception.map(_.cause.toString), None))
    )
  }
}

private[latency] object LostEnds {
  val EveryMs = 300000L
}
