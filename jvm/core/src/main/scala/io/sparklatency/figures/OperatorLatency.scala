package io.sparklatency.figures

/**
 * The operator latency of a node over the last batches that tell it: Apex's `latencyMA`. Not thread-safe to add; any thread reads.
 */
final class OperatorLatency {
  @volatile private var batches = Vector.empty[Double]

  def add(ms: Double): Unit = batches = (batches :+ ms).takeRight(OperatorLatency.Batches)

  /** What it took in each of the last batches, in milliseconds, oldest first. */
  def all: Seq[Double] = batches
}

object OperatorLatency {

  /** How many batches a mean is of, as in Apex by default. */
  val Batches = 10

  /** In the last batch that tells it. */
  def last(batches: Seq[Double]): Option[Double] = batches.lastOption

  /** The mean, over fewer while there are fewer. Apex rounds it down; this does not. */
  def average(batches: Seq[Double]): Option[Double] =
    Option.when(batches.nonEmpty)(batches.sum / batches.size)
}
