package org.apache.spark.sql.latency.tracking

import scala.collection.mutable

import io.sparklatency.answer.Note

/**
 * Knows what was told of each run, so that a plan which is made anew for each batch tells it once. Of each run that is active, and of
 * the last hundred others of which anything was told. Thread-safe: planning threads call it. One short lock.
 *
 * @param active the ids of the runs that are
 */
private[latency] final class RunNotes(active: () => Set[String]) {
  private val ofRuns = mutable.LinkedHashMap.empty[String, Set[Note]]

  /** Whether it was not told before. */
  def add(run: String, note: Note): Boolean = synchronized {
    val before = ofRuns.getOrElse(run, Set.empty)
    ofRuns(run) = before + note
    if (ofRuns.size > RunNotes.RunsKept)
      ofRuns --= ofRuns.keys.filterNot(active()).toVector.dropRight(RunNotes.RunsKept)
    !before(note)
  }
}

private object RunNotes {
  private val RunsKept = 100
}
