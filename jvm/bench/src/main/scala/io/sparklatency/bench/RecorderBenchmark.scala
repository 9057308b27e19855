package io.sparklatency.bench

import scala.util.Random

import io.sparklatency.LatencyRecorder
import io.sparklatency.RowClock
import io.sparklatency.SystemClock
import org.HdrHistogram.Histogram
import org.openjdk.jmh.annotations._

/**
 * What one record costs in the recorder, and what it would cost with HdrHistogram's own `recordValue` beside a minimum, a
 * maximum and a sum, the clock being read for every row or by [[RowClock]]. `loop` is what the measurement itself costs.
 * Nanoseconds a record, in a loop over timestamps made beforehand.
 */
class RecorderBenchmark extends AverageTime {
  import RecorderBenchmark._

  @Param(Array("lognormal", "constant"))
  var latencies: String = _

  private var timestamps: Array[Long] = _
  private var recorder: LatencyRecorder = _
  private var committed: LatencyRecorder = _
  private var hdr: HdrRecorder = _
  private var rowClock: RowClock = _

  @Setup(Level.Iteration)
  def stamp(): Unit = {
    val now = System.currentTimeMillis()
    val random = new Random(1)
    // About 150 ms in the middle, some 5 s at the 99th percentile.
    def lognormal = math.exp(5 + 1.5 * random.nextGaussian()).toLong
    timestamps = Array.fill(Records)((now - (if (latencies == "constant") 150 else lognormal)) * 1000)
    recorder = new LatencyRecorder(SystemClock)
    committed = new LatencyRecorder(SystemClock, reference = Some(now))
    hdr = new HdrRecorder
    rowClock = new RowClock(SystemClock)
  }

  @Benchmark
  @OperationsPerInvocation(Records)
  def loop(): Long = {
    var all = 0L
    var i = 0
    while (i < Records) { all ^= timestamps(i); i += 1 }
    all
  }

  @Benchmark
  @OperationsPerInvocation(Records)
  def latencyRecorder(): LatencyRecorder = {
    var i = 0
    while (i < Records) { recorder.record(timestamps(i)); i += 1 }
    recorder
  }

  /** With the ages from which the commit latency is made, as at the last node of a query. */
  @Benchmark
  @OperationsPerInvocation(Records)
  def latencyRecorderAndAges(): LatencyRecorder = {
    var i = 0
    while (i < Records) { committed.record(timestamps(i)); i += 1 }
    committed
  }

  @Benchmark
  @OperationsPerInvocation(Records)
  def hdrHistogramRowClock(): HdrRecorder = {
    var i = 0
    while (i < Records) { hdr.record(rowClock.millis() - timestamps(i) / 1000); i += 1 }
    hdr
  }

  @Benchmark
  @OperationsPerInvocation(Records)
  def hdrHistogramClockPerRow(): HdrRecorder = {
    var i = 0
    while (i < Records) { hdr.record(System.currentTimeMillis() - timestamps(i) / 1000); i += 1 }
    hdr
  }
}

object RecorderBenchmark {
  final val Records = 1 << 14
}

/** The plain way: HdrHistogram for the percentiles, and beside it what it does not keep exactly or with its sign. */
final class HdrRecorder {
  private[this] val histogram = new Histogram(2)
  private[this] var min = Long.MaxValue
  private[this] var max = Long.MinValue
  private[this] var sum = 0L

  def record(latency: Long): Unit = {
    if (latency < min) min = latency
    if (latency > max) max = latency
    sum += latency
    histogram.recordValue(math.max(0, latency))
  }
}
