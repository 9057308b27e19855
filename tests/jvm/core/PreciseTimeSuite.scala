package io.sparklatency.time

import org.scalatest.funsuite.AnyFunSuite

/** Two clocks that are read one after the other. */
class PreciseTimeSuite extends AnyFunSuite {

  /** Of a thread that has to wait for so long after each reading of the time of day. The steady clock is 500 behind. */
  private final class Time(waits: Long*) extends PreciseTime {
    private var now = 1000L
    private val left = waits.iterator

    override def micros(): Long = {
      val read = now
      if (left.hasNext) now += left.next()
      read
    }
    override def steadyMicros(): Long = now - 500
  }

  test("two clocks are read at one moment") {
    assert(new Time().both() === TwoReadings(1000, 500, 0))
    assert(new Time(20).both() === TwoReadings(1000, 500, 20), "as long as readings may take")
  }

  test("a thread that has to wait between two readings reads again") {
    assert(new Time(21).both() === TwoReadings(1021, 521, 0))
    assert(new Time(7000, 300, 0).both() === TwoReadings(8300, 7800, 0))
  }

  test("of eight readings the two that lie closest together are taken") {
    assert(new Time(90, 80, 70, 30, 60, 50, 40, 100, 0).both() === TwoReadings(1240, 740, 30))
    assert(new Time(90, 90, 90, 90, 90, 90, 90, 25, 0).both() === TwoReadings(1630, 1130, 25))
  }
}
