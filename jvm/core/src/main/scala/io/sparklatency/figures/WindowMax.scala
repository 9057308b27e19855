package io.sparklatency.figures

/**
 * The greatest of what came within the last of some samples of time, as [[LatencyWindow]] has the rest of it. Not thread-safe, but for the
 * samples.
 */
final class WindowMax(samples: WindowSamples) {
  private var greatest = Map.empty[WindowSamples.Sample, Long]

  def record(value: Long): Unit = {
    val sample = samples.current()
    forgetGone()
    greatest += sample -> greatest.get(sample).fold(value)(_.max(value))
  }

  def measure(): Option[Long] = {
    samples.forgetOld()
    forgetGone()
    greatest.values.maxOption
  }

  private def forgetGone(): Unit = greatest = greatest.filter { case (sample, _) => samples.isKept(sample) }
}
