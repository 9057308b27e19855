package org.apache.spark.sql.latency.tracking

import scala.collection.mutable

/**
 * What planning has found in each run and surfaces show: names of columns, say. Of the last hundred runs that have such. Thread-safe:
 * planning threads tell, surfaces ask. One short lock.
 */
private[latency] final class RunTexts {
  private val ofRuns = mutable.LinkedHashMap.empty[String, Set[String]]

  def add(run: String, text: String): Unit = synchronized {
    ofRuns(run) = ofRuns.getOrElse(run, Set.empty) + text
    if (ofRuns.size > RunTexts.RunsKept) ofRuns -= ofRuns.head._1
  }

  def of(run: String): Seq[String] = synchronized(ofRuns.getOrElse(run, Set.empty)).toSeq.sorted
}

private object RunTexts {
  private val RunsKept = 100
}
