package io.sparklatency.answer

import io.sparklatency.figures.BatchTimes
import io.sparklatency.figures.NodeTimes
import io.sparklatency.figures.StageTimes

/** That a node's stage waits for one of its partitions, which may be its only one. Then more cores do not help. */
private[answer] object Skew {

  /**
   * What to do about it, in the batch of these times; none where its partitions are about alike, or not known.
   *
   * @param ofStage whether all that the node's stage does is told, and not only what the node takes
   */
  def of(times: BatchTimes, node: String, ofStage: Boolean): Option[String] = for {
    (stage, found) <- lastWith(times, node)
    all = found.partitions
    othersMs = if (all.count > 1) all.medianMs else 0
    slowest <- all.slowest.headOption
    if all.slowestMs > Times * othersMs && all.slowestMs - othersMs >= AtLeastMs
    // Where many partitions wait for cores, the slowest of them is not what takes long.
    stageMs = stage.endMs - stage.startMs
    took = if (ofStage) stageMs else found.latencyMs.getOrElse(stageMs)
    if took < 2 * all.slowestMs
  } yield
    if (all.count == 1)
      "All its records are in one partition: spread them over several. More cores do not help."
    else
      s"Partition ${Readable.count(slowest.partition.toLong)} takes ${Readable.duration(all.slowestMs)}, and the median of " +
        s"${Readable.count(all.count.toLong)} partitions ${Readable.duration(all.medianMs)}: spread its records over the others. More " +
        "cores do not help."

  /** Of several stages that have the node, the one in which its rows ended last. */
  private def lastWith(times: BatchTimes, node: String): Option[(StageTimes, NodeTimes)] =
    times.stages.flatMap(stage => stage.node(node).map(stage -> _)).maxByOption { case (_, found) =>
      found.ewtMs
    }

  /** So many times the median is more than chance. */
  private val Times = 2

  /** Less is not worth a change. */
  private val AtLeastMs = 1000
}
