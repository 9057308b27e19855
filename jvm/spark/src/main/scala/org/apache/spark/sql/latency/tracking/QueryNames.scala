package org.apache.spark.sql.latency.tracking

import java.util.UUID

import scala.collection.mutable

import org.apache.spark.sql.streaming.StreamingQuery

/**
 * The names under which the runs of queries are shown. No two runs that go on at the same time have the same name.
 *
 * Keeps one name for each run until the run ends. A name costs a map look-up, and a look at all kept names when a run first
 * asks. Thread-safe: planning threads ask, the listener's thread forgets.
 */
private[latency] final class QueryNames {
  private val names = mutable.Map.empty[UUID, String]

  /**
   * The query's own name, the same as long as the run lasts. It is the query's id where the query has no name, or where a
   * query of another session has the same name and runs.
   */
  def of(query: StreamingQuery, isRunning: UUID => Boolean): String = synchronized {
    names.getOrElseUpdate(
      query.runId, {
        val taken = names.exists { case (run, name) => name == query.name && isRunning(run) }
        if (query.name == null || taken) query.id.toString else query.name
      }
    )
  }

  /** A run has ended. Gives back its name. */
  def forget(run: UUID): Option[String] = synchronized(names.remove(run))
}
