package org.apache.spark.sql.latency.application

import org.apache.spark.sql.execution.SparkStrategy
import org.apache.spark.sql.latency.compat.SparkSession

/** What a session plans with where the jar alone is there. Any thread may add to it. */
private[application] object SessionStrategies {

  /** Whether it was not there yet. Two threads that mark at once would else take away what the other has added. */
  def add(session: SparkSession, strategy: SparkStrategy): Boolean = synchronized {
    val isNew = !session.experimental.extraStrategies.contains(strategy)
    if (isNew) session.experimental.extraStrategies :+= strategy
    isNew
  }
}
