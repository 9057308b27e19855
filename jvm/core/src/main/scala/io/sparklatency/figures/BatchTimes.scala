package io.sparklatency.figures

import io.sparklatency.time.ClockOffset

/**
 * Who was at work for a batch, and when, from its first read to its last write. Times are milliseconds since the first read, by the
 * driver's clock. Immutable.
 *
 * @param batch           its number
 * @param firstReadMicros when the first task asked for its first row, in microseconds since the epoch
 * @param boundMs         how far clocks may put each time wrong at the most; none where a clock's offset is unknown
 * @param stages          each behind those that it reads from
 * @param of              what they are of
 */
final case class BatchTimes(
    batch: Long,
    firstReadMicros: Long,
    boundMs: Option[Double],
    stages: Seq[StageTimes],
    of: BatchTimes.Of = BatchTimes.Batch
) {

  /** Of all nodes, stage by stage. A node that several stages have shows as it was in the last of them. */
  lazy val nodes: Seq[NodeTimes] = {
    val all = stages.flatMap(_.nodes)
    val ofId = all.groupBy(_.node)
    all.map(_.node).distinct.map(id => ofId(id).maxBy(_.ewtMs))
  }
}

/**
 * A stage with nodes in it.
 *
 * @param upstream the places, among the stages of the batch, of those that its nodes' records come from
 * @param startMs  when its first task asked for its first row
 * @param endMs    when its last task was over
 * @param tasks    how many stand
 * @param nodes    in plan order, upstream first
 * @param path     those of them that are in the task that was over last
 * @param restMs   what of its time belongs to none of these alone: to reading, writing, and what cannot be told apart
 */
final case class StageTimes(
    upstream: Seq[Int],
    startMs: Double,
    endMs: Double,
    tasks: Int,
    nodes: Seq[NodeTimes],
    path: Seq[String],
    restMs: Double
) {
  private lazy val byId = nodes.reverseIterator.map(node => node.node -> node).toMap

  def node(id: String): Option[NodeTimes] = byId.get(id)
}

/**
 * A node in a stage.
 *
 * @param latencyMs its operator latency: how long the operators between it and the node before were at work; 0 at a source. None
 *                  where that cannot be told from what the rest of the stage does
 * @param ewtMs     its end-window timestamp: when the last row of the batch had passed it, in its last partition
 * @param partition that partition
 * @param executor  which ran it
 * @param partitions all of them, or the slowest
 */
final case class NodeTimes(
    node: String,
    latencyMs: Option[Double],
    ewtMs: Double,
    partition: Int,
    executor: String,
    partitions: NodePartitions = NodePartitions.Unknown
)

object BatchTimes {

  /** @param name in JSON */
  sealed abstract class Of(val name: String) extends Product with Serializable

  /** A batch that has ended. */
  case object Batch extends Of("batch")

  /** The batch in progress, up to now. */
  case object SoFar extends Of("so-far")

  /**
   * A second of a batch that does not end for minutes, or ever. All its stages run at the same time, and what is told of each is how
   * long its operators were at work: there is no waiting, and no end.
   */
  case object Window extends Of("window")

  /**
   * From what stands of the tasks of a batch.
   *
   * @param batch  its number
   * @param marks  those where records leave their node, in plan order, upstream first
   * @param offset how far an executor's clock is off; none where that is unknown
   * @return none where no task was watched
   */
  def of(batch: Long, marks: Seq[MarkReadings], offset: String => Option[ClockOffset]): Option[BatchTimes] =
    new BatchSlices(marks, offset).times(batch)

  /**
   * The same of a batch that runs, of what is known up to now. Its number is for others to tell.
   *
   * @param same whether two nodes, one behind the other, let the same rows pass before
   */
  def soFar(
      marks: Seq[MarkReadings],
      offset: String => Option[ClockOffset],
      same: (String, String) => Boolean
  ): Option[BatchTimes] = new BatchSlices(marks, offset, same).times(-1).map(_.copy(of = SoFar))
}
