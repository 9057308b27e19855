package io.sparklatency.path

import io.sparklatency.recording.LatencySummary

/**
 * How much older records are at a node than at a node upstream of it: the difference of the two nodes' figures, figure by
 * figure, in milliseconds. A record never gets younger, so for the same records no difference is negative.
 *
 * The difference of two maxima, say, is no record's own delay, and percentiles are each within 1 %. Where such differences are out of
 * order, a median above a maximum, they would mislead, and are not told.
 *
 * @param sameRecords whether the same number of records passed both nodes. If not, some were merged, multiplied or dropped, or
 *                    are still on the way. Then different records are compared: only the means are, and their difference may be
 *                    negative
 */
final case class ProcessingDelay(
    sameRecords: Boolean,
    min: Option[Long],
    avg: Option[Double],
    p50: Option[Long],
    p99: Option[Long],
    max: Option[Long]
) {
  import ProcessingDelay.Rounding

  /** Without what cannot be the minimum, the percentiles and the maximum of anything with this mean. */
  private def inOrder: ProcessingDelay = {
    val exact = (for (least <- min; mean <- avg; greatest <- max)
      yield least - Rounding <= mean && mean <= greatest + Rounding).getOrElse(true)
    val figures = Seq(min, p50, p99, max).flatten
    if (!exact) copy(min = None, p50 = None, p99 = None, max = None)
    else if (figures != figures.sorted) copy(p50 = None, p99 = None)
    else this
  }
}

object ProcessingDelay {

  private val percents = Seq(50.0, 99.0)

  /** Of the means, in milliseconds. */
  private val Rounding = 1e-6

  def between(upstream: LatencySummary, node: LatencySummary): ProcessingDelay = {
    val avg = for (there <- node.avg; here <- upstream.avg) yield there - here
    if (upstream.count != node.count) ProcessingDelay(sameRecords = false, None, avg, None, None, None)
    else {
      val percentiles = node.percentiles(percents).zip(upstream.percentiles(percents)).map {
        case (there, here) => difference(there, here)
      }
      ProcessingDelay(
        sameRecords = true,
        min = difference(node.min, upstream.min),
        avg,
        p50 = percentiles.head,
        p99 = percentiles.last,
        max = difference(node.max, upstream.max)
      ).inOrder
    }
  }

  private def difference(there: Option[Long], here: Option[Long]): Option[Long] =
    for (older <- there; younger <- here) yield older - younger
}
