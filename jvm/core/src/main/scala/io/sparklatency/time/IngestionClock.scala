package io.sparklatency.time

/**
 * The time of day for one row after another in microseconds, as the rows are read: a [[RowClock]], with its precision and at its
 * price. One thread; one for each partition that a task reads.
 *
 * It never goes back. When the operating system's clock is set back it stands still until that clock has caught up.
 */
final class IngestionClock(clock: Clock, everyRow: Boolean) extends RowClock(clock, everyRow) {
  private[this] var latest = Long.MinValue

  /** The time of day for the next row, since the epoch. */
  def micros(): Long = {
    if (nextIsStale()) read()
    reading
  }

  override protected def now(): Long = {
    latest = math.max(latest, clock.micros())
    latest
  }
}

object IngestionClock {

  /**
   * By the clock that marks read. So a mark behind a stamp finds no record younger than nothing, while nobody sets that clock.
   *
   * @param everyRow as [[RowClock]] has it
   */
  def open(everyRow: Boolean): IngestionClock = new IngestionClock(WallClock, everyRow)
}
