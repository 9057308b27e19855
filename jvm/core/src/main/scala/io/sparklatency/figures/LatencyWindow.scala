package io.sparklatency.figures

import io.sparklatency.recording.LatencySummary

/**
 * What came within the last of some samples of time. Not thread-safe, but for the samples.
 *
 * Costs a merge for what comes. Once somebody has looked, what comes next is also added to what he saw, a merge more: then he does not
 * wait for one when he looks again.
 */
final class LatencyWindow(samples: WindowSamples) {
  import WindowSamples.Sample

  private var summaries = Map.empty[Sample, LatencySummary]
  private var measured = Option.empty[LatencySummary] // all of them together, where that is known
  private var isAsked = false // since something last came

  def record(summary: LatencySummary): Unit = {
    val sample = samples.current()
    forgetGone()
    add(sample, summary)
  }

  /** Takes over what another window of the same samples holds. */
  def absorb(other: LatencyWindow): Unit =
    other.summaries.foreach { case (sample, summary) => if (samples.isKept(sample)) add(sample, summary) }

  /** The same one again, unless something has come or gone. */
  def measure(): LatencySummary = {
    samples.forgetOld()
    forgetGone()
    val all = measured.getOrElse(LatencySummary.merge(summaries.values))
    measured = Some(all)
    isAsked = true
    all
  }

  private def forgetGone(): Unit = {
    val kept = summaries.filter { case (sample, _) => samples.isKept(sample) }
    if (kept.size < summaries.size) {
      summaries = kept
      measured = None
    }
  }

  /** Whoever has asked asks again: what comes first after that is added to what he was told. Else nobody may want the sum. */
  private def add(sample: Sample, summary: LatencySummary): Unit = {
    summaries += sample -> (summaries.getOrElse(sample, LatencySummary.empty) + summary)
    measured = measured.filter(_ => isAsked).map(_ + summary)
    isAsked = false
  }
}
