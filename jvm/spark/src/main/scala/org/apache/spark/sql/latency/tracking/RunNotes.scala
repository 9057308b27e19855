package org.apache.spark.sql.latency.tracking

import scala.collection.mutable

import io.sparklatency.answer.Note

/**
 * What planning has found in each run and surfaces show. Of the last hundred runs that have such. Thread-safe: planning threads tell,
 * surfaces ask. One short lock.
 */
private[latency] final class RunNotes {
  private val ofRuns = mutable.LinkedHashMap.empty[String, Set[Note]]

  def add(run: String, note: Note): Unit = synchronized {
    ofRuns(run) = ofRuns.getOrElse(run, Set.empty) + note
    if (ofRuns.size > RunNotes.RunsKept) ofRuns -= ofRuns.head._1
  }

  def of(run: String): Seq[Note] = synchronized(ofRuns.getOrElse(run, Set.empty)).toSeq.sortBy(_.text)
}

private object RunNotes {
  private val RunsKept = 100
}
