package io.sparklatency

import io.sparklatency.figures.Measure
import io.sparklatency.figures.NodeLatencies
import io.sparklatency.recording.LatencyRecorder
import io.sparklatency.recording.LatencySummary
import io.sparklatency.time.ManualClock

/** Summaries and nodes of records that are so many milliseconds old. */
object Aged {
  private val clock = new ManualClock(1790000000000L)

  def records(ms: Long*): LatencySummary = withSomeMore(0)(ms: _*)

  /** Beside these, so many have no timestamp. */
  def withSomeMore(withoutTimestamp: Int)(ms: Long*): LatencySummary = {
    val recorder = new LatencyRecorder(clock)
    ms.foreach(age => recorder.record((clock.millis() - age) * 1000))
    (1 to withoutTimestamp).foreach(_ => recorder.recordWithoutTimestamp())
    recorder.summary()
  }

  def node(id: String, upstream: String*)(ms: Long*): NodeLatencies =
    NodeLatencies(id, upstream, Map(Measure.E2ELatency -> records(ms: _*)))
}
