package io.sparklatency.time

import org.scalatest.funsuite.AnyFunSuite

class TurnsSuite extends AnyFunSuite {
  private def due(intervalMs: Long)(times: Long*): Seq[Long] = {
    val turns = new Turns(intervalMs)
    times.filter(turns.isDue)
  }

  test("something is due once in each interval, and intervals begin at multiples of their length") {
    assert(due(1000)(1500, 1501, 1999, 2000, 2001, 5999, 6000) === Seq(1500, 2000, 5999, 6000))
  }

  test("a clock that is set back makes nothing due until it is past where it was") {
    assert(due(1000)(5000, 4000, 1000, 5999, 6000) === Seq(5000, 6000))
  }

  test("before the epoch, too") {
    assert(due(1000)(-1001, -1000, -1, 0) === Seq(-1001, -1000, 0))
  }
}
