package io.sparklatency

/**
 * How much older records are at a node than they were at a node upstream of it: latency there minus latency here, statistic by
 * statistic, in milliseconds. A record never grows younger on its way, so of the same records none of these is negative.
 *
 * @param sameRecords whether as many records passed the one as the other. If not, some were merged, multiplied or dropped on the
 *                    way, or are still on it, and the difference is one between two populations; it may be negative
 */
final case class ProcessingDelay(
    sameRecords: Boolean,
    min: Option[Double],
    avg: Option[Double],
    p50: Option[Double],
    p99: Option[Double],
    max: Option[Double]
)

object ProcessingDelay {

  private val percents = Seq(50.0, 99.0)

  def between(upstream: LatencySummary, node: LatencySummary): ProcessingDelay = {
    def difference(there: Option[Double], here: Option[Double]): Option[Double] =
      for (older <- there; younger <- here) yield older - younger
    val percentiles = node.percentiles(percents).zip(upstream.percentiles(percents)).map {
      case (there, here) =>
        difference(there.map(_.toDouble), here.map(_.toDouble))
    }
    ProcessingDelay(
      upstream.count == node.count,
      min = difference(node.min.map(_.toDouble), upstream.min.map(_.toDouble)),
      avg = difference(node.avg, upstream.avg),
      p50 = percentiles.head,
      p99 = percentiles.last,
      max = difference(node.max.map(_.toDouble), upstream.max.map(_.toDouble))
    )
  }
}
