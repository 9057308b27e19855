package io.sparklatency.answer

import io.sparklatency.figures.BatchTimes
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.figures.StageTimes

/**
 * A task that is at work all the time, by the windows of a second that are told where no batch ends. Whatever comes meanwhile waits.
 *
 * @param ms     for how long of a second, in the mean of the last ten: the busiest task of its stage
 * @param node   the one before which it works longest
 * @param atNode for how long there
 */
private[answer] final case class BusyTask(ms: Double, node: String, atNode: Double) {

  /** As parts of the time, in words: the whole, and the node's where that is less. */
  def figures: String =
    s"${percent(ms)} of the time${Some(percent(atNode)).filter(_ != percent(ms)).fold("")(", " + _)}"

  private def percent(ms: Double) = Readable.percent(ms / BusyTask.Second)
}

private[answer] object BusyTask {

  /**
   * So many milliseconds of a second are all the time. The rest goes by while the task reads and writes rows: no node sees that.
   * Records wait for those before them long before a task is never idle.
   */
  val AllTheTime = 800.0

  /** @param nodes on the way of the records that wait, without the one where they are read */
  def of(query: QuerySnapshot, nodes: Seq[String]): Option[BusyTask] =
    stages(query).filter(_.path.exists(nodes.contains)).flatMap(of(query, _)).filter(_.ms >= AllTheTime)
      .maxByOption(_.ms)

  /** Those of them of which the last second does not tell for how long the operators before them were at work. */
  def unknown(query: QuerySnapshot, nodes: Seq[String]): Seq[String] = {
    val told = stages(query).flatMap(_.nodes).filter(_.latencyMs.nonEmpty).map(_.node).toSet
    nodes.filterNot(told)
  }

  /** How many windows have been told. */
  def windows(query: QuerySnapshot): Long = last(query).fold(0L)(_.batch)

  private def stages(query: QuerySnapshot): Seq[StageTimes] =
    last(query).toSeq.flatMap(_.stages)

  private def last(query: QuerySnapshot): Option[BatchTimes] =
    query.times.filter(_.of == BatchTimes.Window)

  /** Of all its nodes: rows on one way wait for those on another in the same task. One second may be like no other. A node that the last one does not tell of may not have been told of for long. */
  private def of(query: QuerySnapshot, stage: StageTimes): Option[BusyTask] = {
    val told =
      stage.nodes.filter(node => node.latencyMs.nonEmpty && stage.path.contains(node.node)).map(_.node)
    val usually = for (id <- told; node <- query.nodes.find(_.id == id); ms <- node.operatorLatencyAvg)
      yield id -> ms
    usually.maxByOption { case (_, ms) => ms }.map { case (node, ms) =>
      BusyTask(usually.map { case (_, ms) => ms }.sum.min(Second), node, ms)
    }
  }

  private val Second = 1000.0
}
