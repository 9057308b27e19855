package io.sparklatency.answer

import io.sparklatency.recording.RecordingLevel

/** What is said of that which a query was planned without, in its log and in its notes. Without state, for any thread. */
object LeftOut {

  /** An ingestion timestamp that nothing reads. */
  def stamp(column: String): String =
    s"the ingestion timestamp '${Readable.name(column)}' is left out of the plan: no step, node or sink reads it; " +
      "spark.sparklatency.forceTimestampSupport=true keeps it"

  /** A node that nobody wrote. */
  def node(id: String, reason: String): String = s"node '$id' is left out: $reason"

  /** The timestamp of a node that is there for latency markers. */
  def timestamp(id: String, reason: String): String = s"node '$id' has no timestamp: $reason"

  /** A node by hand that the query's own level leaves out, and with it what read its timestamp. */
  def ofLevel(id: String, level: RecordingLevel, timestamp: String): String = {
    val column = Readable.name(timestamp)
    s"node '$id' is left out: the query does not record its level, $level; '$column' stays only as far as others read it; " +
      "spark.sparklatency.forceTimestampSupport=true keeps it"
  }

  /** Whether a note is one of these. */
  private[answer] def is(note: Note): Boolean = note.code == code

  /** @param text as the log has it: without a capital, and without a full stop */
  def note(text: String): Note = Note("left-out", Note.Info, s"${text.capitalize}.")

  private val code = note("").code
}
