package io.sparklatency.answer

/** What keeps a query's system-time watermark from doing what its user expects. Without state, for any thread. */
object SystemTimeNote {

  /** @param warning as the log has it: without a capital, and without a full stop */
  def of(warning: String): Note = Note("system-time-watermark", Note.Warn, s"${warning.capitalize}.")
}
