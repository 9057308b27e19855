package io.sparklatency.time

import org.scalatest.funsuite.AnyFunSuite

class IngestionClockSuite extends AnyFunSuite {

  test("rows have microseconds of the clock") {
    val clock = new Clock {
      override def millis(): Long = 3
      override def micros(): Long = 3456
      override def readEveryRow: Boolean = true
    }
    assert(new IngestionClock(clock, everyRow = false).micros() === 3456)
  }

  test("a clock that is set back stands still until it has caught up") {
    val clock = new ManualClock(1000)
    val rows = new IngestionClock(clock, everyRow = false)
    val times = Seq(1000L, 1001L, 400L, 1000L, 1002L).map { now =>
      clock.set(now)
      rows.micros()
    }
    assert(times === Seq(1000000, 1001000, 1001000, 1001000, 1002000))
  }

  test("it reads the clock for a run of fast rows, and for each where asked") {
    def readings(everyRow: Boolean): Int = {
      var readings = 0
      val rows = new IngestionClock(
        new Clock {
          override def millis(): Long = { readings += 1; readings }
          override def readEveryRow: Boolean = false
        },
        everyRow
      )
      for (_ <- 1 to 10000) rows.micros()
      readings
    }
    assert(readings(everyRow = false) < 5000)
    assert(readings(everyRow = true) === 10000)
  }

  test("it shows the driver's time where this process's own clock is known to be ahead") {
    val clock = new ManualClock(5000)
    WallClock.install(clock)
    WallClock.correctBy(ClockCorrection(2000000))
    try assert(IngestionClock.open(everyRow = false).micros() === 3000000)
    finally WallClock.reset()
  }
}
