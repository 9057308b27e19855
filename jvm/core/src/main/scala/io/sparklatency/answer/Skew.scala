package io.sparklatency.answer

import io.sparklatency.figures.Batch

/** That a node's stage waits for one of its partitions. Then more cores do not help. */
private[answer] object Skew {

  /** What to do about it, in the batch; none where its partitions are about alike, or not known. */
  def of(batch: Batch, node: String): Option[String] = for {
    found <- batch.times.flatMap(_.nodes.find(_.node == node))
    all = found.partitions if all.count > 1 && all.slowestMs > Times * all.medianMs
    slowest <- all.slowest.headOption if all.slowestMs - all.medianMs >= AtLeastMs
    // Where many partitions wait for cores, the slowest of them is not what takes long.
    if found.latencyMs.forall(_ < 2 * all.slowestMs)
  } yield s"Partition ${Readable.count(slowest.partition.toLong)} takes ${Readable.duration(all.slowestMs)}, and the median of " +
    s"${Readable.count(all.count.toLong)} partitions ${Readable.duration(all.medianMs)}: spread its records over the others. More cores " +
    "do not help."

  /** So many times the median is more than chance. */
  private val Times = 2

  /** Less is not worth a change. */
  private val AtLeastMs = 1000
}
