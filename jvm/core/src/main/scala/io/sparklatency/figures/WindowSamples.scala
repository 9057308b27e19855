package io.sparklatency.figures

import io.sparklatency.time.Clock

/**
 * The last `samples` × `sampleMs`, sampled as Kafka's `SampledStat` does it, so that a figure read beside one of Kafka Streams
 * covers the same time. A sample takes what arrives for `sampleMs` after it began; one more sample than asked for is kept, because
 * the oldest usually overlaps the window's edge; a sample is dropped when the *last* thing it took is as old as the window. Figures
 * thus cover one to one and a half windows and end after a window of silence. A clock that steps back begins a new sample, and
 * what lies in its future is dropped.
 *
 * All windows of a query have their samples in common: what is subtracted, one node's figures from another's, is of the same time.
 * In Kafka each has its own. Thread-safe: the clock is read under the lock, or one thread would take another for a clock that
 * steps back.
 */
final class WindowSamples(samples: Int, sampleMs: Long, clock: Clock) {
  import WindowSamples._

  require(samples > 0 && sampleMs > 0, s"samples and their length must be positive: $samples x $sampleMs ms")

  private var kept = Vector.empty[Sample]

  /** The sample that takes what arrives now. */
  def current(): Sample = synchronized {
    val nowMs = clock.millis()
    if (kept.isEmpty || nowMs < kept.last.startMs || nowMs - kept.last.startMs >= sampleMs)
      kept = (kept :+ new Sample(nowMs)).takeRight(samples + 1)
    kept.last.lastMs = nowMs
    kept.last
  }

  def isKept(sample: Sample): Boolean = synchronized(kept.exists(_ eq sample))

  /** Drops the samples that are no longer, or not yet, within the window. */
  def forgetOld(): Unit = synchronized {
    val nowMs = clock.millis()
    kept = kept.filter(sample => nowMs >= sample.startMs && nowMs - sample.lastMs < samples * sampleMs)
  }
}

object WindowSamples {
  def apply(settings: WindowSettings, clock: Clock): WindowSamples =
    new WindowSamples(settings.samples, settings.sampleMs, clock)

  /** By identity: two may begin at the same time where the clock has stepped back. */
  final class Sample private[WindowSamples] (val startMs: Long) {
    private[WindowSamples] var lastMs: Long = startMs
  }
}
