package io.sparklatency.time

import java.lang.invoke.VarHandle

/**
 * The time of day for one row after another, at a fraction of a nanosecond a row. One thread; one for each task and node.
 *
 * A reading is used again for a run of rows while two guards agree that it is fresh:
 *  - the run is short. Its length follows the pace of the rows: it doubles up to [[RowClock.LongestRun]] while a run takes
 *    less than [[RowClock.RunBudgetNanos]], and shrinks in proportion when it takes longer. Rows that arrive further apart
 *    than the budget are therefore all read exactly, whatever the scheduler does to any other thread. So are the first two
 *    of rows that come close together: below [[RowClock.ShortestRun]] each row has a reading of its own.
 *  - the [[Ticker]] has not moved since. This catches a pause between two rows of a fast run.
 *
 * A stale reading needs both to fail: a pause in the middle of a fast run that begins and ends within one stall of the
 * ticker. At most the rest of that run, 512 rows at the worst, is then off by the length of the pause.
 *
 * Of fast rows thousands come in one millisecond. Whether that is over, `System.nanoTime` tells, which each reading needs anyway. So
 * the clock itself is asked once in each of their milliseconds; when it is set, that is seen in the next.
 *
 * A class to extend: in the same object as what is done with the readings it costs each row half a nanosecond less.
 *
 * @param everyRow whether each row has a reading of its own, at 40 to 60 ns: where rows wait for one another within a task, as in
 *                 real-time and continuous mode, a pause between two of them is the rule
 */
class RowClock(clock: Clock, everyRow: Boolean = false) {
  import RowClock._

  private[this] val longestRun = if (everyRow || clock.readEveryRow) 1 else LongestRun
  private[this] var last = 0L
  private[this] var tick = 0L
  private[this] var left = 0 // rows of the run that are still to come
  private[this] var end = 0L // the number of its last row
  private[this] var run = 1 // as many rows as the pace of the last ones allows
  private[this] var lastNanos = System.nanoTime()
  private[this] var askedAtNanos = lastNanos
  private[this] var standsUntilNanos = lastNanos // what the clock said then

  /** The time of day for the next row. */
  final def millis(): Long = {
    if (nextIsStale()) read()
    last
  }

  /** Goes on to the next row, and tells whether the clock is to be [[read]] for it. */
  final protected def nextIsStale(): Boolean = {
    left -= 1
    isStale
  }

  /** Whether the clock is to be [[read]] for this row. */
  final protected def isStale: Boolean = left < 0 || Ticker.now != tick

  /** Gives the row that it is at a reading of its own. */
  final protected def read(): Unit = {
    val number = row
    val nanos = System.nanoTime()
    run = nextRun(nanos - lastNanos)
    lastNanos = nanos
    end = number + shared - 1
    VarHandle.storeStoreFence() // see `row`
    left = shared - 1
    if (shared > 1) Ticker.keepGoing()
    val ticked = Ticker.now
    if (run < LongestRun || ticked != tick || nanos - standsUntilNanos >= 0) {
      askedAtNanos = nanos
      last = now()
    }
    tick = ticked
  }

  /** Lets the next reading ask the clock, whatever `System.nanoTime` tells. */
  final protected def doubtReading(): Unit = standsUntilNanos = lastNanos

  /** What a reading takes from the clock. */
  protected def now(): Long = {
    // Asked before the milliseconds and after `askedAtNanos`, and not yet over: so a clock
    // that tells microseconds tells the end of the millisecond early, never late.
    if (run == LongestRun)
      standsUntilNanos = askedAtNanos + (999 - Math.floorMod(clock.micros(), 1000L)) * 1000
    clock.millis()
  }

  /** The time of day when it was read last. */
  final protected def reading: Long = last

  /** `System.nanoTime` when it was read last. */
  final protected def readAtNanos: Long = lastNanos

  /** The number of the row that it is at, from 1. What another thread is told is told again only while no row has begun since. */
  final protected def row: Long = {
    val rest = left
    VarHandle.loadLoadFence() // a run's `end` is there before its `left`
    end - rest
  }

  /** Whether the clock was asked for this row. */
  final protected def isJustAsked: Boolean = left == shared - 1 && askedAtNanos == lastNanos

  /** How many rows share the reading. */
  private def shared: Int = if (run < ShortestRun) 1 else run

  /** @param nanos how long the rows took that shared the last reading */
  private def nextRun(nanos: Long): Int = {
    val ofRun = nanos * (run / shared)
    if (ofRun <= RunBudgetNanos) math.min(longestRun, run * 2)
    else math.max(1L, run * RunBudgetNanos / ofRun).toInt
  }
}

object RowClock {
  val LongestRun = 512
  val ShortestRun = 4
  val RunBudgetNanos = 100000L
}
