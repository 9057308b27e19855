package org.apache.spark.sql.latency.tracking

import scala.collection.mutable

import io.sparklatency.answer.Note

/**
 * Knows what was told of each run, so that a plan which is made anew for each batch tells it once. At most a hundred sentences of a run;
 * of each run that is active, and of the last hundred others of which anything was told. Thread-safe: planning threads call it. One short lock.
 *
 * @param active the ids of the runs that are
 */
private[latency] final class RunNotes(active: () => Set[String]) {
  private val ofRuns = mutable.LinkedHashMap.empty[String, Set[Note]]

  /** Whether it is to be told: it was not before, and not too many others were. */
  def add(run: String, note: Note): Boolean = synchronized {
    val before = ofRuns.getOrElse(run, Set.empty)
    val isNew = !before(note) && before.size < RunNotes.Most
    if (isNew) ofRuns(run) = before + note
    if (ofRuns.size > RunNotes.RunsKept)
      ofRuns --= ofRuns.keys.filterNot(active()).toVector.dropRight(RunNotes.RunsKept)
    isNew
  }
}

private[latency] object RunNotes {
  private val RunsKept = 100

  /** Of one run. */
  val Most = 100
}
