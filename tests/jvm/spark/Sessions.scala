package org.apache.spark.sql.latency

import org.apache.spark.sql.latency.compat.SparkSession

/** Sessions of one application. In Spark's own package for its visibility. */
object Sessions {

  /** One that shares no state with `session`, as `SparkSession.builder.create` makes it: neither catalog nor running queries. */
  def apart(session: SparkSession): SparkSession = {
    SparkSession.clearActiveSession()
    SparkSession.clearDefaultSession()
    try SparkSession.builder().getOrCreate()
    finally {
      SparkSession.setDefaultSession(session)
      SparkSession.setActiveSession(session)
    }
  }
}
