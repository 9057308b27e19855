package org.apache.spark.sql.latency.tracking

import scala.collection.mutable

import io.sparklatency.answer.Note

/**
 * What planning has found in each run and surfaces show. Of each run that is active, and of the last hundred others that have such.
 * Thread-safe: planning threads tell, surfaces ask. One short lock.
 *
 * @param active the ids of the runs that are
 */
private[latency] final class RunNotes(active: () => Set[String]) {
  private val ofRuns = mutable.LinkedHashMap.empty[String, Set[Note]]

  def add(run: String, note: Note): Unit = synchronized {
    ofRuns(run) = ofRuns.getOrElse(run, Set.empty) + note
    if (ofRuns.size > RunNotes.RunsKept)
      ofRuns --= ofRuns.keys.filterNot(active()).toVector.dropRight(RunNotes.RunsKept)
  }

  def of(run: String): Seq[Note] = synchronized(ofRuns.getOrElse(run, Set.empty)).toSeq.sortBy(_.text)
}

private object RunNotes {
  private val RunsKept = 100
}
