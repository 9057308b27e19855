package io.sparklatency.bench

import java.util.concurrent.TimeUnit

import io.sparklatency.LatencyRecorder
import io.sparklatency.LatencySummary
import io.sparklatency.SystemClock
import org.openjdk.jmh.annotations._

/** What a task of few records costs at a last node, whatever the records: a recorder, its summary, its ages. Microseconds a task. */
@OutputTimeUnit(TimeUnit.MICROSECONDS)
class TaskBenchmark extends AverageTime {
  import TaskBenchmark._

  @Param(Array("5000", "30000000000"))
  var ageMs: Long = _

  @Benchmark
  def task(): (LatencySummary, LatencySummary, Long) = {
    val now = System.currentTimeMillis()
    val recorder = new LatencyRecorder(SystemClock, reference = Some(now))
    var i = 0
    while (i < Records) { recorder.record((now - ageMs - i) * 1000); i += 1 }
    val (whole, rest) = recorder.seal()
    (whole, rest, recorder.agesOfAll.fold(0L)(_.atMs))
  }
}

object TaskBenchmark {
  final val Records = 10
}
