package org.apache.spark.sql.latency

import org.apache.spark.sql.latency.compat.SparkSession

/** Sessions of one application. In Spark's own package for its visibility. */
object Sessions {

  /** One that shares no state with `session`, as `SparkSession.builder.create` makes it: neither catalog nor running queries. */
  def apart(session: SparkSession): SparkSession = without(session)(SparkSession.builder().getOrCreate())

  /** Finds no session, as a thread does when the context has been stopped. */
  def without[A](session: SparkSession)(body: => A): A = {
    SparkSession.clearActiveSession()
    SparkSession.clearDefaultSession()
    try body
    finally {
      SparkSession.setDefaultSession(session)
      SparkSession.setActiveSession(session)
    }
  }
}
