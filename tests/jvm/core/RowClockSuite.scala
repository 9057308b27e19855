package io.sparklatency

import org.scalatest.funsuite.AnyFunSuite

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

  test("fast rows share readings, at most 256 a reading") {
    val clock = new CountingClock
    val rows = new RowClock(clock)
    val count = 1000000
    for (_ <- 1 to count) rows.millis()
    assert(clock.readings >= count / RowClock.LongestRun)
    assert(clock.readings < count / 2)
  }

  test("a row that comes after more than the budget of a run has a reading of its own") {
    val clock = new CountingClock
    val rows = new RowClock(clock)
    val count = 50
    for (_ <- 1 to count) {
      val until = System.nanoTime() + 2 * RowClock.RunBudgetNanos
      while (System.nanoTime() < until) Thread.onSpinWait()
      rows.millis()
    }
    assert(clock.readings === count)
  }
}
