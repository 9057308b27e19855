package io.sparklatency.figures

/**
 * What a task that runs has done so far, at one moment.
 *
 * @param run        of the query; none of a batch query
 * @param hasBatches whether the task ends with its batch: not so in real-time and continuous mode
 * @param nodes      those that it has begun
 */
final case class TaskReport(
    run: Option[String],
    attempt: TaskAttempt,
    hasBatches: Boolean,
    nodes: Seq[TaskReport.Node]
) {
  private[figures] def rows: Seq[(Int, Long)] = nodes.map(node => node.partition -> node.rows)
}

object TaskReport {

  /**
   * @param planning the id of the accumulator that brings what it records
   * @param slice    up to now, where it goes on
   * @param rows     how many have come to it: the nodes of a task tell of the same moment
   */
  final case class Node(planning: Long, partition: Int, slice: TaskSlice, rows: Long) {

    /** Whether both tell of one reading. In continuous mode a task reads its partition anew with each epoch. */
    private[figures] def goesOnWith(other: Node): Boolean = planning == other.planning &&
      partition == other.partition && slice.openedMicros == other.slice.openedMicros
  }
}
