package org.apache.spark.sql.latency.tracking

import io.sparklatency.answer.Progress
import org.apache.spark.sql.latency.compat.ContinuousTrigger
import org.apache.spark.sql.streaming.Trigger

/**
 * An epoch of a query in continuous mode that Spark has not committed for so long after its end that the query hangs. Spark commits one
 * after another, also where no record comes, and says in its status which. A new one begins at each interval, whether or not tasks get on.
 * Until Spark has committed the first nobody knows.
 *
 * @param last    the one before, which Spark has come to commit
 * @param sinceMs how long ago the late one began
 */
private[tracking] final case class LateEpoch(last: Long, sinceMs: Long) {
  def epoch: Long = last + 1
  def text: String = s"Spark has not got beyond the commit of epoch $last"
}

/** Finds it in what Spark tells of a query. Without state, for any thread. */
private[tracking] object LateEpoch {

  /** Spark's own words. */
  private val Committing = """Committing epoch (\d+)""".r

  /**
   * @param doing  Spark's status
   * @param newest the epoch that has begun last
   * @param runsMs for how long that one has run. While Spark hangs in a commit it begins no other, but this begins anew
   *                once
   */
  def of(trigger: Trigger, doing: String, newest: Long, runsMs: Long): Option[LateEpoch] =
    (trigger, doing) match {
      case (continuous: ContinuousTrigger, Committing(last)) =>
        val endedMs = (newest - last.toLong - 2) * continuous.intervalMs + runsMs
        Option.when(endedMs > Progress.StalledMs)(LateEpoch(last.toLong, continuous.intervalMs + endedMs))
      case _ => None
    }
}
