package io.sparklatency.answer

/** What is likely wrong with timestamps that are further from the clock than clocks go wrong: a sentence to add, or nothing. */
private[answer] object OddTimestamps {

  /**
   * Of records that are further ahead than all that was done with them took.
   *
   * @param ms how far on average
   * @param by the timestamp, as a sentence has it
   */
  def aheadOfClock(ms: Double, by: String): String =
    s"Records are ahead of the clock, by ${Readable.duration(ms)} on average$by, so nobody knows how long they waited: $Writers" +
      ahead(ms.round)

  /** What to do about timestamps that are not the query's fault. */
  val Writers = "look at who writes them, and at their clock."

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
