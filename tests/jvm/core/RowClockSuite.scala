package io.sparklatency.time

import org.scalatest.funsuite.AnyFunSuite

/** Beside the ticker, which one test moves. */
class RowClockSuite extends AnyFunSuite {

  test("a clock that asks for it is read for every row") {
    val clock = new ManualClock(0)
    val rows = new RowClock(clock)
    for (now <- Seq(0L, 0L, 1L, 50L, 50L, 49L, -3L)) {
      clock.set(now)
      assert(rows.millis() === now)
    }
  }

  /** Counts its readings and lets them be used again. */
  private final class CountingClock extends Clock {
    var readings = 0
    override def millis(): Long = { readings += 1; SystemClock.millis() }
    override def readEveryRow: Boolean = false
  }

  /** Goes on as `System.nanoTime` does, from zero on. */
  private final class SteadyClock extends Clock {
    private val start = System.nanoTime()
    var readings = 0
    private def nanos = { readings += 1; System.nanoTime() - start }
    override def millis(): Long = nanos / 1000000
    override def micros(): Long = nanos / 1000
    override def readEveryRow: Boolean = false
  }

  test("fast rows share readings, and most readings of a millisecond what the clock said in it") {
    val clock = new SteadyClock
    val rows = new RowClock(clock)
    val count = 20000000
    for (_ <- 1 to count) rows.millis()
    assert(clock.readings < count / RowClock.LongestRun / 2)
  }

  test("a fast row has a time of one of the 512 rows that end with it") {
    val clock = new SteadyClock
    val rows = new RowClock(clock)
    val begun = new Array[Long](1000000)
    for (row <- begun.indices) {
      begun(row) = clock.millis()
      val shown = rows.millis()
      val earliest = begun(math.max(row + 1 - RowClock.LongestRun, 0))
      assert(earliest <= shown && shown <= clock.millis(), row)
    }
  }

  /** Without sleeping: the thread would wake up late. */
  private def pause(budgets: Int): Unit = {
    val until = System.nanoTime() + budgets * RowClock.RunBudgetNanos
    while (System.nanoTime() < until) Thread.onSpinWait()
  }

  test("a row that comes after more than the budget of a run has a reading of its own") {
    val clock = new CountingClock
    val rows = new RowClock(clock)
    val count = 50
    for (_ <- 1 to count) {
      pause(budgets = 2)
      rows.millis()
    }
    assert(clock.readings === count)
  }

  test("two rows that come close together between pauses have a reading each") {
    val clock = new CountingClock
    val rows = new RowClock(clock)
    val pauses = 50
    for (_ <- 1 to pauses) {
      pause(budgets = 2)
      rows.millis()
      rows.millis()
    }
    assert(clock.readings === 2 * pauses)
  }

  /** Has a clock in the middle of a run, so that only a guard makes it read again. */
  private def inRun(clock: CountingClock): RowClock = {
    val rows = new RowClock(clock)
    var shared = 0 // rows in succession that had no reading of their own
    while (shared < 4) {
      val before = clock.readings
      rows.millis()
      shared = if (clock.readings == before) shared + 1 else 0
    }
    rows
  }

  test("a row that comes after the ticker has moved has a reading of its own, in the middle of a fast run") {
    for (_ <- 1 to 100) {
      val clock = new CountingClock
      val rows = inRun(clock)
      val before = clock.readings
      Ticker.now += 1
      rows.millis()
      assert(clock.readings === before + 1)
    }
  }

  test("the ticker moves while there are fast rows") {
    val rows = inRun(new CountingClock)
    val (before, end) = (Ticker.now, System.nanoTime() + 240L * 1000 * 1000 * 1000)
    while (Ticker.now == before && System.nanoTime() < end) rows.millis()
    assert(Ticker.now > before)
  }

  test("a pace that slows down shortens the runs before the next row, whatever the ticker does") {
    val clock = new CountingClock
    val rows = inRun(clock)
    pause(budgets = 1000)
    Ticker.now += 1
    rows.millis()
    val before = clock.readings
    rows.millis()
    assert(clock.readings === before + 1)
  }

  test("where it is asked for, each row has a reading of its own, however fast rows come") {
    val clock = new CountingClock
    val rows = new RowClock(clock, everyRow = true)
    for (_ <- 1 to 10000) rows.millis()
    assert(clock.readings === 10000)
  }
}
