package org.apache.spark.sql.latency

import io.sparklatency.answer.Note
import org.apache.spark.scheduler.SparkListenerEvent

/**
 * What planning has found in a run and no figure tells, as it goes over the listener bus and into the event log: why a place has no
 * node, say. Each sentence once in a run. The thread that plans posts it.
 *
 * '''This class never moves and never changes its name''', for the same reason as [[SparkListenerLatencyBatch]]. Its field names
 * stand in event logs.
 *
 * @param code  of the note, the same for all of a kind
 * @param level the name of a [[Note.Level]]
 */
final case class SparkListenerLatencyNote(runId: String, code: String, level: String, text: String)
    extends SparkListenerEvent {

  /** A level that this sparklatency does not know is taken for information. */
  def note: Note = Note(code, Note.Level.of(level).getOrElse(Note.Info), text)
}

/** Writes a note as an event. */
object SparkListenerLatencyNote {
  def apply(runId: String, note: Note): SparkListenerLatencyNote =
    SparkListenerLatencyNote(runId, note.code, note.level.name, note.text)
}
