package io.sparklatency.bench

import io.sparklatency.time.RowClock
import io.sparklatency.time.SystemClock
import org.openjdk.jmh.annotations._

/** What one reading costs; nanoseconds. `ClockAccuracy` says how good the cheap one is. */
class ClockBenchmark extends AverageTime {
  private val clock = new RowClock(SystemClock)

  @Benchmark def rowClock(): Long = clock.millis()
  @Benchmark def currentTimeMillis(): Long = System.currentTimeMillis()
  @Benchmark def nanoTime(): Long = System.nanoTime()
}
