package org.apache.spark.sql.latency.tracking

import scala.collection.mutable

import io.sparklatency.answer.Readable
import org.apache.spark.internal.Logging

/**
 * Tells of each problem of a query once, so that a plan which is made anew for each batch does not fill the log. It remembers
 * the last thousand problems: one that comes back after as many others is told again.
 *
 * Costs one look into a set. Thread-safe: planning threads and the listener's thread call it.
 */
private[latency] final class Problems extends Logging {
  private val told = mutable.LinkedHashSet.empty[(String, String)]

  /** @param isChosen whether a setting asked for it: then it is no warning */
  def tellOnce(query: String, problem: String, isChosen: Boolean = false): Unit =
    if (isNew(query -> problem)) {
      val text = s"query '${Readable.name(query)}': $problem"
      if (isChosen) logInfo(text) else logWarning(text)
    }

  private def isNew(problem: (String, String)) = synchronized {
    val isNew = told.add(problem)
    if (told.size > Problems.ToldAtMost) told -= told.head
    isNew
  }

  /** The query's run has ended. The next run is told again. */
  def forget(query: String): Unit = synchronized {
    told.filterInPlace { case (other, _) => other != query }
    ()
  }
}

/** The limit that bounds a driver's memory, however long it runs. */
private object Problems {
  private val ToldAtMost = 1000
}
