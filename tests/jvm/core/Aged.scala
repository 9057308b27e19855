package io.sparklatency

/** Summaries and nodes of records that are so many milliseconds old. */
object Aged {
  private val clock = new ManualClock(1000000)

  def records(ms: Long*): LatencySummary = {
    val recorder = new LatencyRecorder(clock)
    ms.foreach(age => recorder.record((clock.millis() - age) * 1000))
    recorder.summary()
  }

  def node(id: String, upstream: String*)(ms: Long*): NodeRecord =
    NodeRecord(id, upstream, Map(Measure.E2ELatency -> records(ms: _*)))
}
