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

  def between(upstream: LatencySummary, node: LatencySummary): ProcessingDelay = {
    def difference(statistic: LatencySummary => Option[Double]): Option[Double] =
      for (there <- statistic(node); here <- statistic(upstream)) yield there - here
    ProcessingDelay(
      upstream.count == node.count,
      difference(_.min.map(_.toDouble)),
      difference(_.avg),
      difference(_.percentile(50).map(_.toDouble)),
      difference(_.percentile(99).map(_.toDouble)),
      difference(_.max.map(_.toDouble))
    )
  }
}
