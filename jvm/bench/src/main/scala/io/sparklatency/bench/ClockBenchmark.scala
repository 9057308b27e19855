package io.sparklatency.bench

import java.util.concurrent.TimeUnit

import io.sparklatency.RowClock
import io.sparklatency.SystemClock
import org.openjdk.jmh.annotations._

/** What one reading costs; nanoseconds. `ClockAccuracy` says how good the cheap one is. */
@State(Scope.Thread)
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 2, jvmArgs = Array("-Xmx1g", "-XX:+UseParallelGC"))
@Warmup(iterations = 3, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
class ClockBenchmark {
  private val clock = new RowClock(SystemClock)

  @Benchmark def rowClock(): Long = clock.millis()
  @Benchmark def currentTimeMillis(): Long = System.currentTimeMillis()
  @Benchmark def nanoTime(): Long = System.nanoTime()
}
