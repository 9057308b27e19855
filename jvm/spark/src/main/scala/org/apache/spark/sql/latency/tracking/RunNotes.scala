package org.apache.spark.sql.latency.tracking

import scala.collection.mutable

import io.sparklatency.answer.Note

/**
 * Knows what was told of each run as long as it lasts, so that a plan which is made anew for each batch tells it once. At most a hundred
 * sentences of a run. Thread-safe: planning threads tell, the listener's thread forgets. One short lock.
 */
private[latency] final class RunNotes {
  private val ofRuns = mutable.Map.empty[String, Set[Note]]

  /** Whether it is to be told: it was not before, and not too many others were. */
  def add(run: String, note: Note): Boolean = synchronized {
    val before = ofRuns.getOrElse(run, Set.empty)
    val isNew = !before(note) && before.size < RunNotes.Most
    if (isNew) ofRuns(run) = before + note
    isNew
  }

  /** A run has ended. */
  def forget(run: String): Unit = synchronized(ofRuns -= run)
}

private[latency] object RunNotes {

  /** Of one run. */
  val Most = 100
}
