package org.apache.spark.sql.latency

import java.util.UUID

import org.apache.spark.sql.streaming.StreamingQueryListener.QueryStartedEvent

/** What Spark tells of a query, made by hand: as Spark 3.5 has it. */
object QueryEvents {
  def started(id: UUID, run: UUID, name: String): QueryStartedEvent = new QueryStartedEvent(id, run, name, "")
}
