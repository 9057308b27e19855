package io.sparklatency.figures

import io.sparklatency.recording.LatencySummary

/** What came within the last of some samples of time. Not thread-safe, but for the samples. */
final class LatencyWindow(samples: WindowSamples) {
  import WindowSamples.Sample

  private var summaries = Map.empty[Sample, LatencySummary]

  def record(summary: LatencySummary): Unit = {
    val sample = samples.current()
    summaries = summaries.filter { case (one, _) => samples.isKept(one) }
    add(sample, summary)
  }

  /** Takes over what another window of the same samples holds. */
  def absorb(other: LatencyWindow): Unit =
    other.summaries.foreach { case (sample, summary) => if (samples.isKept(sample)) add(sample, summary) }

  def measure(): LatencySummary = {
    samples.forgetOld()
    summaries = summaries.filter { case (sample, _) => samples.isKept(sample) }
    LatencySummary.merge(summaries.values)
  }

  private def add(sample: Sample, summary: LatencySummary): Unit =
    summaries += sample -> (summaries.getOrElse(sample, LatencySummary.empty) + summary)
}
