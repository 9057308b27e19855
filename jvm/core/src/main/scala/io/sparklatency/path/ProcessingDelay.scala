package io.sparklatency.path

import io.sparklatency.recording.LatencySummary

/**
 * How much older records are at a node than at a node upstream of it: the difference of the two nodes' figures, figure by
 * figure, in milliseconds. A record never gets younger, so for the same records no difference is negative.
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
)

object ProcessingDelay {

  private val percents = Seq(50.0, 99.0)

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
      )
    }
  }

  private def difference(there: Option[Long], here: Option[Long]): Option[Long] =
    for (older <- there; younger <- here) yield older - younger
}
