package org.apache.spark.sql.latency.tracking

import scala.collection.mutable

/**
 * The ingestion timestamps of each run that nothing reads. Of the last hundred runs that have such. Thread-safe: planning threads tell,
 * surfaces ask. One short lock.
 */
private[latency] final class LeftOutColumns {
  private val ofRuns = mutable.LinkedHashMap.empty[String, Set[String]]

  def add(run: String, column: String): Unit = synchronized {
    ofRuns(run) = ofRuns.getOrElse(run, Set.empty) + column
    if (ofRuns.size > LeftOutColumns.RunsKept) ofRuns -= ofRuns.head._1
  }

  def of(run: String): Seq[String] = synchronized(ofRuns.getOrElse(run, Set.empty)).toSeq.sorted
}

private object LeftOutColumns {
  private val RunsKept = 100
}
