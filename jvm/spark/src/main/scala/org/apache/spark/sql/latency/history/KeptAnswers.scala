package org.apache.spark.sql.latency.history

import io.sparklatency.answer.QueryAnswer
import io.sparklatency.figures.QuerySnapshot

/**
 * The runs that were read from a store last, decoded, and what is to be said of them. A [[LatencyStore]] is made for each reading, so
 * this outlives it, where there is anything to keep: see [[KeptOfRuns]]. Takes as much again as the store's own record of each run.
 */
private[spark] final class KeptAnswers {
  private[history] val snapshots = new KeptOfRuns[QuerySnapshot]
  private[history] val answers = new KeptOfRuns[QueryAnswer]
}
