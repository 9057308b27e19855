package io.sparklatency

import org.scalatest.funsuite.AnyFunSuite

/** The cases of Kafka's `SampledStatTest` and `SensorTest`, with their numbers. */
class LatencyWindowSuite extends AnyFunSuite {

  private def latency(ms: Long): LatencySummary = {
    val recorder = new LatencyRecorder(new ManualClock(ms))
    recorder.record(0)
    recorder.summary()
  }

  test("after a window of silence everything is unknown") {
    val window = new LatencyWindow(samples = 2, sampleMs = 100)
    window.record(latency(50), 0)
    assert(window.measure(199).max === Some(50))
    assert(window.measure(200).isEmpty)
  }

  test("a full sample is kept for as long as its last record is within the window") {
    val window = new LatencyWindow(samples = 2, sampleMs = 1000)
    for (at <- 0L to 900L by 100) window.record(latency(1), at)
    assert(window.measure(900 + 1500).count === 10)
    assert(window.measure(900 + 2500).count === 0)
  }

  test("a third sample that overlaps the edge of two is kept") {
    val window = new LatencyWindow(samples = 2, sampleMs = 1000)
    for (at <- 0L to 2000L by 100) window.record(latency(1), at)
    assert(window.measure(2200).count === 21)
    assert(window.measure(2900).count === 11)
  }

  test("the oldest figures leave, the newest stay") {
    val window = new LatencyWindow(samples = 2, sampleMs = 1000)
    window.record(latency(500), 0)
    window.record(latency(7), 1500)
    assert(window.measure(1999).max === Some(500))
    assert(window.measure(2000).max === Some(7))
  }

  test("a clock that steps back begins a new sample, and nothing outlives it") {
    val window = new LatencyWindow(samples = 2, sampleMs = 30000)
    window.record(latency(500), 600000)
    window.record(latency(7), 0)
    assert(window.measure(0).max === Some(7))
    assert(window.measure(70000).isEmpty)
  }

  test("a window without length is refused") {
    assertThrows[IllegalArgumentException](new LatencyWindow(samples = 0, sampleMs = 1000))
    assertThrows[IllegalArgumentException](new LatencyWindow(samples = 2, sampleMs = 0))
  }
}
