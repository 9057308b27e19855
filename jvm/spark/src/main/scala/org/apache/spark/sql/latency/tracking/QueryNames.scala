package org.apache.spark.sql.latency.tracking

import java.util.UUID

import scala.collection.mutable

import org.apache.spark.sql.latency.compat.StreamExecution
import org.apache.spark.sql.latency.planning.PlannedQuery

/**
 * The names under which the runs of queries are shown. No two runs that go on at the same time have the same name.
 *
 * Keeps each run and its name until the run ends. A name costs a map look-up, and a look at all kept names when a run first
 * asks. Thread-safe: planning threads ask, the listener's thread forgets.
 */
private[latency] final class QueryNames {
  private val names = mutable.Map.empty[UUID, QueryNames.Named]

  /**
   * The query's own name, the same as long as the run lasts. It is the query's id where it has no name, or that of
   * all batch queries, or where a query of another session has the same name and runs.
   */
  def of(query: StreamExecution): String = synchronized {
    names.getOrElseUpdate(
      query.runId, {
        val taken = query.name == PlannedQuery.BatchQueries ||
          names.valuesIterator.exists(other => other.name == query.name && other.query.isActive)
        QueryNames.Named(query, if (query.name == null || taken) query.id.toString else query.name)
      }
    ).name
  }

  /** Those that have a name. A session may have state of its own, and then it does not know the queries of others. */
  def queries: Seq[StreamExecution] = synchronized(names.valuesIterator.map(_.query).toList)

  /** A run has ended. Gives back its name. */
  def forget(run: UUID): Option[String] = synchronized(names.remove(run)).map(_.name)
}

private object QueryNames {
  final case class Named(query: StreamExecution, name: String)
}
