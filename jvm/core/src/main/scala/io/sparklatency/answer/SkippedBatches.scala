package io.sparklatency.answer

/** What is said of a run of which a newer sparklatency wrote batches: this one has no figures of them. Without state, for any thread. */
object SkippedBatches {
  private val Code = "newer-batches"

  /** Whether a note is one of these. */
  private[answer] def is(note: Note): Boolean = note.code == Code

  /** @param why without a capital, and without a full stop */
  def note(why: String): Note = Note(Code, Note.Warn, s"Batches are skipped: $why.")
}
