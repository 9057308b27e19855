package io.sparklatency.time

/**
 * Where the offset of a remote clock lies for certain, in microseconds; an offset is the remote clock's reading minus ours.
 * Immutable.
 */
final case class ClockInterval(low: Long, high: Long) {
  require(low <= high, s"an interval from $low to $high is empty")

  def midpoint: Long = low + (high - low) / 2

  /** The same after the offset may have moved so far, either way. */
  def widened(micros: Long): ClockInterval = ClockInterval(low - micros, high + micros)

  /** What both say. None where they contradict each other. */
  def and(other: ClockInterval): Option[ClockInterval] =
    ClockInterval.of(math.max(low, other.low), math.min(high, other.high))
}

object ClockInterval {
  def of(low: Long, high: Long): Option[ClockInterval] = Option.when(low <= high)(ClockInterval(low, high))

  /**
   * What one task tells of its executor's clock: it started after the driver had launched it, and ended before the driver saw
   * it end. A reading may be a whole unit behind the time. None where the times contradict each other, because a clock was set
   * meanwhile.
   *
   * @param launched the driver's clock, in milliseconds
   * @param started  the executor's, in microseconds
   * @param ended    likewise
   * @param finished the driver's, in milliseconds
   */
  def ofTask(launched: Long, started: Long, ended: Long, finished: Long): Option[ClockInterval] =
    of(ended - (finished + 1) * 1000, started + 1 - launched * 1000)

  /** What all say. None where two contradict each other, and of none. */
  def ofAll(intervals: Iterable[ClockInterval]): Option[ClockInterval] =
    intervals.headOption.flatMap(first =>
      intervals.tail.foldLeft(Option(first))((all, next) => all.flatMap(_.and(next)))
    )
}
