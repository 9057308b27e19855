package io.sparklatency

import scala.util.Random

import io.sparklatency.figures.LatencyWindow
import io.sparklatency.figures.WindowSamples
import io.sparklatency.recording.LatencySummary
import io.sparklatency.time.ManualClock
import org.scalatest.funsuite.AnyFunSuite

/** The cases of Kafka's `SampledStatTest` and `SensorTest`, with their numbers. */
class LatencyWindowSuite extends AnyFunSuite {
  private val clock = new ManualClock(0)

  /** A window whose calls say what the clock shows. */
  private final class Timed(samples: WindowSamples) {
    def this(samples: Int, sampleMs: Long) = this(new WindowSamples(samples, sampleMs, clock))
    private val window = new LatencyWindow(samples)

    def record(summary: LatencySummary, nowMs: Long): Unit = {
      clock.set(nowMs)
      window.record(summary)
    }

    def measure(nowMs: Long): LatencySummary = {
      clock.set(nowMs)
      window.measure()
    }
  }

  test("after a window of silence everything is unknown") {
    val window = new Timed(samples = 2, sampleMs = 100)
    window.record(Aged.records(50), 0)
    assert(window.measure(199).max === Some(50))
    assert(window.measure(200).isEmpty)
  }

  test("a full sample is kept for as long as its last record is within the window") {
    val window = new Timed(samples = 2, sampleMs = 1000)
    for (at <- 0L to 900L by 100) window.record(Aged.records(1), at)
    assert(window.measure(900 + 1500).count === 10)
    assert(window.measure(900 + 2500).count === 0)
  }

  test("a third sample that overlaps the edge of two is kept") {
    val window = new Timed(samples = 2, sampleMs = 1000)
    for (at <- 0L to 2000L by 100) window.record(Aged.records(1), at)
    assert(window.measure(2200).count === 21)
    assert(window.measure(2900).count === 11)
  }

  test("the oldest figures leave, the newest stay") {
    val window = new Timed(samples = 2, sampleMs = 1000)
    window.record(Aged.records(500), 0)
    window.record(Aged.records(7), 1500)
    assert(window.measure(1999).max === Some(500))
    assert(window.measure(2000).max === Some(7))
  }

  test("a clock that steps back begins a new sample, and nothing outlives it") {
    val window = new Timed(samples = 2, sampleMs = 30000)
    window.record(Aged.records(500), 600000)
    window.record(Aged.records(7), 0)
    assert(window.measure(0).max === Some(7))
    assert(window.measure(70000).isEmpty)
  }

  test("windows that have their samples in common cover the same time, whatever came to each") {
    val samples = new WindowSamples(samples = 2, sampleMs = 1000, clock)
    val (source, sink) = (new Timed(samples), new Timed(samples))
    source.record(Aged.records(0), 0)
    for (window <- Seq(source, sink)) window.record(Aged.records(500), 600)
    for (at <- 1000L to 3400L by 200; window <- Seq(source, sink)) {
      window.record(Aged.records(7), at)
      assert(source.measure(at).max === sink.measure(at).max, s"at $at")
    }
    assert(sink.measure(3400).max === Some(7))
  }

  test("whoever looks in between finds the same as who looks for the first time, whatever comes and goes") {
    val random = new Random(7)
    val samples = new WindowSamples(samples = 2, sampleMs = 100, clock)
    val (window, other) = (new LatencyWindow(samples), new LatencyWindow(samples))
    var (now, looks) = (0L, 0)
    while (looks < 2000) {
      val step = random.nextInt(8) match {
        case 0 => random.nextInt(400).toLong
        case 1 => -now.min(random.nextInt(150).toLong) // the clock is set back
        case _ => random.nextInt(30).toLong
      }
      now += step
      clock.set(now)
      random.nextInt(5) match {
        case 0 => other.record(Aged.records(random.nextInt(1000).toLong))
        case 1 => window.absorb(other)
        case 2 => window.record(Aged.records(random.nextInt(1000).toLong))
        case _ =>
          val (found, first) = (window.measure(), new LatencyWindow(samples))
          first.absorb(window)
          assert(Figures(found) === Figures(first.measure()), s"look $looks")
          assert(window.measure() eq found, "nothing has come or gone since")
          looks += 1
      }
    }
  }

  test("a window without length is refused") {
    assertThrows[IllegalArgumentException](new Timed(samples = 0, sampleMs = 1000))
    assertThrows[IllegalArgumentException](new Timed(samples = 2, sampleMs = 0))
  }
}
