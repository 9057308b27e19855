package io.sparklatency.answer

/** What is likely wrong with timestamps that are further from the clock than clocks go wrong: a sentence to add, or nothing. */
private[answer] object OddTimestamps {

  /** @param ms how far they are ahead of the clock */
  def ahead(ms: Long): String =
    if (ms >= 1000 * YearMs) " Were milliseconds taken for seconds? timestamp_millis reads them."
    else if (ms >= HourMs / 4) " Is the time zone of its timestamp right?"
    else ""

  /** @param ms how old records are */
  def behind(ms: Double): String =
    if (ms >= 20 * YearMs)
      " Were seconds taken for milliseconds, or zeros for a time? timestamp_seconds reads seconds."
    else ""

  private val HourMs = 3600000L
  private val YearMs = 365 * 24 * HourMs
}
