package org.apache.spark.sql.latency.tracking

import scala.collection.mutable

/**
 * What planning has found in each run and surfaces show: names of columns, say. Of each run that is active, and of the last hundred
 * others that have such. Thread-safe: planning threads tell, surfaces ask. One short lock.
 *
 * @param active the ids of the runs that are
 */
private[latency] final class RunTexts(active: () => Set[String]) {
  private val ofRuns = mutable.LinkedHashMap.empty[String, Set[String]]

  def add(run: String, text: String): Unit = synchronized {
    ofRuns(run) = ofRuns.getOrElse(run, Set.empty) + text
    if (ofRuns.size > RunTexts.RunsKept) ofRuns --= ofRuns.keys.filterNot(active()).toVector.dropRight(RunTexts.RunsKept)
  }

  def of(run: String): Seq[String] = synchronized(ofRuns.getOrElse(run, Set.empty)).toSeq.sorted
}

private object RunTexts {
  private val RunsKept = 100
}
