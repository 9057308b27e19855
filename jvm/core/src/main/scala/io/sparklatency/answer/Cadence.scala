package io.sparklatency.answer

import io.sparklatency.figures.Batch

/**
 * How far apart batches begin. A watermark moves only with a batch, so what waits for it may wait that long for nothing else.
 *
 * @param ms         how far, at the least
 * @param isTriggers whether the trigger's interval makes it so, and not how long batches take
 */
private[answer] final case class Cadence(ms: Double, isTriggers: Boolean)

private[answer] object Cadence {

  /** None where Spark has not told how long it took. */
  def of(batch: Batch): Option[Cadence] = batch.admission.map { admission =>
    // One long batch makes no rule.
    val took = batch.before.fold(admission.tookMs.toDouble)(_.tookMs.min(admission.tookMs.toDouble))
    val interval = admission.intervalMs.fold(0.0)(_.toDouble)
    Cadence(took.max(interval), isTriggers = interval >= took)
  }
}
