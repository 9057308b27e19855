package io.sparklatency.figures

/**
 * What a node did in each partition of a stage: how many there are, and the slowest of them, the slowest first. A partition is as slow
 * as its operator latency says. Where that is unknown for one of them, or the node is a source, it is how long its task ran until the
 * last row had passed the node.
 *
 * @param count     how many partitions there are
 * @param medianMs  how long the middle one took; of an even number the shorter of two
 * @param slowestMs how long the slowest took
 * @param slowest   at most [[NodePartitions.Kept]]
 */
final case class NodePartitions(
    count: Int,
    medianMs: Double,
    slowestMs: Double,
    slowest: Seq[PartitionTimes]
) {

  /** How many times the median the slowest took; none where there is nothing to compare. */
  def skew: Option[Double] = Option.when(count > 1 && medianMs > 0)(slowestMs / medianMs)

  /** How many partitions are left out. */
  def left: Int = count - slowest.size

  /** With fewer of them. */
  def take(most: Int): NodePartitions = copy(slowest = slowest.take(most))
}

object NodePartitions {
  val Kept = 100

  /** Of what older events tell, and of windows. */
  val Unknown: NodePartitions = NodePartitions(0, 0, 0, Nil)

  /** @param isKnown whether operator latencies are known, and of work */
  def of(all: Seq[PartitionTimes], isKnown: Boolean): NodePartitions = {
    def ms(one: PartitionTimes) = if (isKnown) one.latencyMs.getOrElse(0.0) else one.tookMs
    if (all.isEmpty) Unknown
    else {
      // Of most only the time is of use: numbers are sorted without boxes.
      val times = all.iterator.map(ms).toArray.sorted
      val least = times((times.length - Kept).max(0))
      val (more, same) = all.filter(ms(_) >= least).partition(ms(_) > least)
      // Where tasks do little, thousands took as long as the least that is kept: no time at all.
      val slowest =
        more.sortBy(one => (-ms(one), one.partition)) ++ same.sortBy(_.partition).take(Kept - more.size)
      NodePartitions(all.size, times((times.length - 1) / 2), times.last, slowest)
    }
  }
}

/**
 * @param tookMs    for how long its task had run when the last row had passed the node
 * @param ewtMs     when that was, in milliseconds since the batch's first read
 * @param latencyMs for how long the operators before the node were at work; none where that is unknown
 * @param records   that passed
 */
final case class PartitionTimes(
    partition: Int,
    executor: String,
    tookMs: Double,
    ewtMs: Double,
    latencyMs: Option[Double],
    records: Long
)
