package io.sparklatency

/**
 * The last `samples` × `sampleMs` of summaries, sampled as Kafka's `SampledStat` does it, so that a figure read beside one
 * of Kafka Streams covers the same time. A sample takes what arrives for `sampleMs` after it began; one more sample than asked
 * for is kept, because the oldest usually overlaps the window's edge; a sample is dropped when the *last* thing it took is as
 * old as the window. Figures thus cover one to one and a half windows and end after a window of silence.
 * A clock that steps back begins a new sample, and what lies in its future is dropped. Not thread-safe.
 */
final class LatencyWindow(samples: Int, sampleMs: Long) {
  import LatencyWindow._

  require(samples > 0 && sampleMs > 0, s"samples and their length must be positive: $samples x $sampleMs ms")

  private var kept = Vector.empty[Sample]

  def record(summary: LatencySummary, nowMs: Long): Unit = {
    if (kept.isEmpty || nowMs < kept.last.startMs || nowMs - kept.last.startMs >= sampleMs)
      kept = (kept :+ new Sample(nowMs)).takeRight(samples + 1)
    kept.last.summary += summary
    kept.last.lastMs = nowMs
  }

  /** Takes over what another window of the same length holds. */
  def absorb(other: LatencyWindow): Unit = {
    val all = (kept ++ other.kept).sortBy(_.startMs)
    kept = all.drop(1).foldLeft(all.take(1)) { (merged, sample) =>
      val last = merged.last
      if (sample.startMs - last.startMs >= sampleMs) merged :+ sample
      else {
        last.summary += sample.summary
        last.lastMs = math.max(last.lastMs, sample.lastMs)
        merged
      }
    }.takeRight(samples + 1)
  }

  def measure(nowMs: Long): LatencySummary = {
    kept = kept.filter(sample => nowMs >= sample.startMs && nowMs - sample.lastMs < samples * sampleMs)
    LatencySummary.merge(kept.map(_.summary))
  }
}

object LatencyWindow {
  private final class Sample(val startMs: Long) {
    var lastMs: Long = startMs
    var summary: LatencySummary = LatencySummary.empty
  }
}
