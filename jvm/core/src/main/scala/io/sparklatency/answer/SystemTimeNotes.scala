package io.sparklatency.answer

/** What keeps a query's system-time watermark from doing what its user expects. Without state, for any thread. */
private[answer] object SystemTimeNotes {

  /** @param warnings as the log of the query has them: without capitals, and without a full stop */
  def of(warnings: Seq[String]): Seq[Note] =
    warnings.map(text => Note("system-time-watermark", Note.Warn, s"${text.capitalize}."))
}
