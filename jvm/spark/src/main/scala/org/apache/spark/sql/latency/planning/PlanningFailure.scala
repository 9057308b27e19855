package org.apache.spark.sql.latency.planning

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.internal.Logging

/**
 * Warns of a failure of ours while a query is planned, each once in a process. It asks for nothing of ours that may be broken.
 * It remembers at most a hundred, and beyond them warns of no new one. Thread-safe.
 */
private[latency] object PlanningFailure extends Logging {
  private val AtMost = 100
  private val told = ConcurrentHashMap.newKeySet[String]()

  /** @param what has not been done because of it */
  def tellOnce(what: String, failure: Throwable): Unit = {
    val problem = s"$what: $failure"
    if (told.size < AtMost && told.add(problem)) logWarning(problem)
  }
}
