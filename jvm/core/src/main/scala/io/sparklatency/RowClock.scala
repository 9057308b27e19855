package io.sparklatency

import java.util.concurrent.atomic.AtomicBoolean

/**
 * The time of day for one row after another, at a fraction of a nanosecond a row. One thread; one for each task and node.
 *
 * A reading is used again for a run of rows while two guards agree that it is fresh:
 *  - the run is short. Its length follows the pace of the rows: it doubles up to [[RowClock.LongestRun]] while a run takes
 *    less than [[RowClock.RunBudgetNanos]], and shrinks in proportion when it takes longer. Rows that arrive further apart
 *    than the budget are therefore all read exactly, whatever the scheduler does to any other thread.
 *  - the [[Ticker]] has not moved since. This catches a pause between two rows of a fast run.
 *
 * A stale reading needs both to fail: a pause in the middle of a fast run that begins and ends within one stall of the
 * ticker. At most the rest of that run, 256 rows at the worst, is then off by the length of the pause.
 *
 * @param atReading called with `System.nanoTime` and the time of day after the clock was read, before the row that asked for it
 */
final class RowClock(clock: Clock, atReading: (Long, Long) => Unit = (_, _) => ()) {
  import RowClock._

  private[this] val longestRun = if (clock.readEveryRow) 1 else LongestRun
  private[this] var reading = 0L
  private[this] var tick = 0L
  private[this] var left = 0
  private[this] var run = 1
  private[this] var readAtNanos = System.nanoTime()

  def millis(): Long = {
    left -= 1
    if (left < 0 || Ticker.now != tick) read()
    reading
  }

  private def read(): Unit = {
    val nanos = System.nanoTime()
    run = nextRun(run, nanos - readAtNanos)
    readAtNanos = nanos
    left = run - 1
    if (run > 1) Ticker.keepGoing()
    tick = Ticker.now
    reading = clock.millis()
    atReading(nanos, reading)
  }

  private def nextRun(last: Int, nanos: Long): Int =
    if (nanos <= RunBudgetNanos) math.min(longestRun, last * 2)
    else math.max(1L, last * RunBudgetNanos / nanos).toInt
}

object RowClock {
  val LongestRun = 256
  val RunBudgetNanos = 100000L
}

/**
 * A number that changes about every millisecond while somebody cares. It says *that* time has passed, never what time it is:
 * its thread can be kept from running for tens of milliseconds. The thread ends when nobody has asked for a second.
 */
private object Ticker {
  @volatile var now = 0L
  @volatile private var wanted = false
  private val running = new AtomicBoolean(false)
  private val IdleTicks = 1000

  def keepGoing(): Unit = {
    if (!wanted) wanted = true
    if (!running.get && running.compareAndSet(false, true)) start()
  }

  private def start(): Unit = {
    val thread = new Thread(() => tickWhileWanted(), "sparklatency-ticker")
    thread.setDaemon(true)
    thread.setContextClassLoader(null) // a task's would be kept alive
    thread.start()
  }

  private def tickWhileWanted(): Unit =
    try {
      var idle = 0
      while (idle < IdleTicks) {
        Thread.sleep(1)
        now += 1
        if (wanted) { wanted = false; idle = 0 }
        else idle += 1
      }
    } finally running.set(false)
}
