package org.apache.spark.sql.latency.tracking

import scala.collection.mutable

/**
 * What each run was planned without, in words. Of the last hundred runs of which there is something to say. Thread-safe: planning threads
 * tell, surfaces ask. One short lock.
 */
private[latency] final class LeftOutOfRuns {
  private val ofRuns = mutable.LinkedHashMap.empty[String, Set[String]]

  def add(run: String, text: String): Unit = synchronized {
    ofRuns(run) = ofRuns.getOrElse(run, Set.empty) + text
    if (ofRuns.size > LeftOutOfRuns.RunsKept) ofRuns -= ofRuns.head._1
  }

  def of(run: String): Seq[String] = synchronized(ofRuns.getOrElse(run, Set.empty)).toSeq.sorted
}

private object LeftOutOfRuns {
  private val RunsKept = 100
}
