package io.sparklatency.bench

import java.util.concurrent.TimeUnit

import io.sparklatency.recording.Ages
import io.sparklatency.recording.LatencyRecorder
import io.sparklatency.recording.LatencySummary
import io.sparklatency.time.SystemClock
import org.openjdk.jmh.annotations._

/** What a last node costs a task however few its records: a recorder of ten, its summary, its ages. Microseconds a task. */
@OutputTimeUnit(TimeUnit.MICROSECONDS)
class TaskBenchmark extends AverageTime {
  import TaskBenchmark._

  @Param(Array("5000", "30000000000"))
  var ageMs: Long = _

  @Benchmark
  def task(): (LatencySummary, Option[Ages]) = {
    val now = System.currentTimeMillis()
    val recorder = new LatencyRecorder(SystemClock, reference = Some(now))
    var i = 0
    while (i < Records) { recorder.record((now - ageMs - i) * 1000); i += 1 }
    val (whole, _) = recorder.seal()
    (whole, recorder.agesOfAll)
  }
}

object TaskBenchmark {
  final val Records = 10
}
