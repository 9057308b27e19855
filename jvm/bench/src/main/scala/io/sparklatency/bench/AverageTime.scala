package io.sparklatency.bench

import java.util.concurrent.TimeUnit

import org.openjdk.jmh.annotations._

/** How a benchmark is run: for the average time, in nanoseconds unless it says otherwise. */
@State(Scope.Thread)
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 2, jvmArgs = Array("-Xmx1g", "-XX:+UseParallelGC"))
@Warmup(iterations = 3, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
abstract class AverageTime
