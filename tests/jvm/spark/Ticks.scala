package io.sparklatency.time

/** The ticker of the row clock, which only its own package sees. */
object Ticks {
  def now: Long = Ticker.now
}
