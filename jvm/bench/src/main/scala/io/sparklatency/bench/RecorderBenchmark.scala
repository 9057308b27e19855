package io.sparklatency.bench

import scala.util.Random

import io.sparklatency.recording.LatencyRecorder
import io.sparklatency.time.Clock
import io.sparklatency.time.RowClock
import io.sparklatency.time.SystemClock
import org.HdrHistogram.Histogram
import org.openjdk.jmh.annotations._

/**
 * What one record costs in the recorder, and what it would cost with HdrHistogram's own `recordValue` beside a minimum, a
 * maximum and a sum, the clock being read for every row or by [[RowClock]]. `loop` is what the measurement itself costs.
 * Nanoseconds a record, in a loop over timestamps made beforehand.
 */
class RecorderBenchmark extends AverageTime {
  import RecorderBenchmark._

  @Param(Array("lognormal", "loguniform", "constant"))
  var latencies: String = _

  private var timestamps: Array[Long] = _
  private var recorder: LatencyRecorder = _
  private var moving: LatencyRecorder = _
  private var committed: LatencyRecorder = _
  private var marks: Array[LatencyRecorder] = _
  private[this] var mark0: LatencyRecorder = _
  private[this] var mark1: LatencyRecorder = _
  private[this] var mark2: LatencyRecorder = _
  private[this] var mark3: LatencyRecorder = _
  private[this] var mark4: LatencyRecorder = _
  private[this] var mark5: LatencyRecorder = _
  private[this] var mark6: LatencyRecorder = _
  private[this] var mark7: LatencyRecorder = _
  private[this] var mark8: LatencyRecorder = _
  private[this] var mark9: LatencyRecorder = _
  private var hdr: HdrRecorder = _
  private var rowClock: RowClock = _

  @Setup(Level.Iteration)
  def stamp(): Unit = {
    val now = System.currentTimeMillis()
    val random = new Random(1)
    // About 150 ms in the middle, some 5 s at the 99th percentile.
    def lognormal = math.exp(5 + 1.5 * random.nextGaussian()).toLong
    def loguniform = math.pow(10000, random.nextDouble()).toLong // 1 ms to 10 s
    def latency = latencies match {
      case "lognormal" => lognormal
      case "loguniform" => loguniform
      case "constant" => 150L
    }
    timestamps = Array.fill(Records)((now - latency) * 1000)
    recorder = new LatencyRecorder(SystemClock)
    moving = new LatencyRecorder(new MovingClock(now))
    committed = new LatencyRecorder(new MovingClock(now), reference = Some(now))
    marks = Array.fill(10)(new LatencyRecorder(SystemClock))
    mark0 = marks(0)
    mark1 = marks(1)
    mark2 = marks(2)
    mark3 = marks(3)
    mark4 = marks(4)
    mark5 = marks(5)
    mark6 = marks(6)
    mark7 = marks(7)
    mark8 = marks(8)
    mark9 = marks(9)
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

  /** Ten marks that each row passes, as ten nodes of one stage are: nanoseconds a record and mark. */
  @Benchmark
  @OperationsPerInvocation(Records * 10)
  def tenLatencyRecorders(): Array[LatencyRecorder] = {
    var i = 0
    while (i < Records) {
      val micros = timestamps(i)
      mark0.record(micros)
      mark1.record(micros)
      mark2.record(micros)
      mark3.record(micros)
      mark4.record(micros)
      mark5.record(micros)
      mark6.record(micros)
      mark7.record(micros)
      mark8.record(micros)
      mark9.record(micros)
      i += 1
    }
    marks
  }

  /** By a clock that shows another millisecond after some 4,096 records, as it does where a record takes a quarter of a microsecond. */
  @Benchmark
  @OperationsPerInvocation(Records)
  def latencyRecorderMovingClock(): LatencyRecorder = {
    var i = 0
    while (i < Records) { moving.record(timestamps(i)); i += 1 }
    moving
  }

  /** The same with the ages from which the commit latency is made, as at the last node of a query: each millisecond has its cost. */
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

/** Shows another millisecond at every sixteenth reading, and the one before again after as many: so ages stay as they are. */
private final class MovingClock(start: Long) extends Clock {
  private var readings = 0

  override def millis(): Long = {
    readings += 1
    start + (readings >> 4 & 1)
  }
  override def micros(): Long = start * 1000 + 999 // about to go on
  override def readEveryRow: Boolean = false
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
