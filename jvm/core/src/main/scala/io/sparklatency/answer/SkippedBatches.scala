package io.sparklatency.answer

/** What is said of a run of which a newer sparklatency wrote batches: this one has no figures of them. Without state, for any thread. */
object SkippedBatches {

  /** Whether a note is one of these. */
  private[answer] def is(note: Note): Boolean = note.code == code

  /** @param why without a capital, and without a full stop */
  def note(why: String): Note = Note("newer-batches", Note.Warn, s"Batches are skipped: $why.")

  private val code = note("").code
}
