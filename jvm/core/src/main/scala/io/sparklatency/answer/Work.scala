package io.sparklatency.answer

import io.sparklatency.figures.BatchTimes
import io.sparklatency.figures.Figure.Mean
import io.sparklatency.figures.NodePartitions
import io.sparklatency.path.OperatorPath
import io.sparklatency.path.OperatorPath.Step

/**
 * Who was at work for a batch: the steps of the critical path, and a sentence about the longest.
 *
 * @param path   what the figures are read from
 * @param behind how long it took from the last write until the results could be seen, in milliseconds, or up to now where no task
 *               runs; none where nobody knows
 */
final case class Work(times: BatchTimes, path: OperatorPath, behind: Option[Double] = None) {

  /**
   * What comes behind the nodes, where it takes longer than all before: the sink's own work, as that of foreachBatch, or stages without
   * a node.
   */
  def commit: Option[Work.Commit] =
    for (ms <- behind if ms > path.latency; end <- last) yield Work.Commit(end, ms, ms + path.latency)

  /** What to do about partitions of a node that are unlike; none where no batch ends, for a second has no partition as a whole. */
  private[answer] def skew(node: String, ofStage: Boolean): Option[String] =
    if (times.of == BatchTimes.Window) None else Skew.of(times, node, ofStage)

  /** The node that records left last; of two stages that were over at the same time that of the one behind. */
  private def last: Option[String] = times.stages.reverse.maxByOption(_.endMs).flatMap(_.path.lastOption)

  /** What every surface says. */
  def text: String = commit.fold(ofSteps)(commit =>
    s"$batch: what comes after ${Readable.name(commit.node)} took longest: ${commit.figures} $spanToCommit."
  )

  private def ofSteps: String = path.longest.fold(s"$batch took no time to speak of.") { step =>
    val figures = Readable.part(step.ms, path.latency, path.share(step))
    s"$batch: ${Work.words(step)} took longest: $figures $span."
  }

  /** A step in a list of them. */
  def text(step: Step): String = Work.words(step)

  private def batch: String = times.of match {
    case BatchTimes.Batch => s"Batch ${Readable.count(times.batch)}"
    case BatchTimes.SoFar => s"Batch ${Readable.count(times.batch)} so far"
    case BatchTimes.Window => "The last second"
  }

  /** Whose share the headline gives. */
  private[answer] def on: String = if (times.of == BatchTimes.Window) "in the last second" else "on a batch"

  private def spanToCommit: String =
    if (times.of == BatchTimes.SoFar) "since the first read. No task of its jobs is known to run"
    else "from the first read to the commit"

  private def span: String = times.of match {
    case BatchTimes.Batch => "from the first read to the last write"
    case BatchTimes.SoFar => "since the first read"
    case BatchTimes.Window => "of work on the way of records"
  }
}

object Work {

  /**
   * @param node  the one that records left last
   * @param whole from the first read to the commit
   */
  final case class Commit(node: String, ms: Double, whole: Double) {
    def share: Double = ms / whole
    private[answer] def figures: String = Readable.part(ms, whole, share)
  }

  /** @param until when the results of the batch could be seen, if it has ended; if it goes on and no task of it runs, now */
  def of(times: BatchTimes, until: Option[Long] = None): Work = {
    val path = new OperatorPath(times)
    Work(times, path, until.filter(_ => times.of != BatchTimes.Window).map(ms => path.behind(ms.toDouble)))
  }

  /** How far the slowest partition of a node is from the others. */
  def text(of: NodePartitions): String = {
    val slowest = of.slowest.headOption.fold("")(one => s"Partition ${Readable.count(one.partition.toLong)}")
    val skew = of.skew.fold("")(times =>
      f", ${BigDecimal(times).setScale(1, BigDecimal.RoundingMode.HALF_UP)} times the median of ${Readable.duration(of.medianMs)}"
    )
    val left =
      if (of.left > 0) s" Only the slowest ${Readable.count(of.slowest.size.toLong)} are shown." else ""
    s"$slowest was slowest of ${Readable.count(of.count.toLong)}: ${Readable.duration(of.slowestMs)}$skew.$left"
  }

  private def words(step: Step): String = step match {
    case Step(OperatorPath.Node, nodes, _) => s"the operators before ${Readable.nodes(nodes)}"
    case Step(OperatorPath.Last, nodes, _) => s"the stage of ${Readable.nodes(nodes)}"
    case Step(OperatorPath.Rest, nodes, _) => s"the rest of the stage of ${Readable.nodes(nodes)}"
    case Step(OperatorPath.Waiting, Seq(), _) => "the start of tasks and stages without a node"
    case Step(OperatorPath.Waiting, nodes, _) => s"waiting for the slots of ${Readable.nodes(nodes)}"
  }

  private val windows = Note(
    "operator-windows",
    Note.Info,
    "In this mode a batch goes on for minutes or without end, so operator latencies are of windows of a second. It is not known when a " +
      "node ended, what a stage waits for, and what the operators before the first node behind a shuffle did."
  )

  /** How the figures are to be read. */
  private[answer] def notes(work: Option[Work]): Seq[Note] = work.toSeq.flatMap { work =>
    if (work.times.of == BatchTimes.Window) Seq(windows)
    else work.times.boundMs match {
      case None => Seq(Note(
          "operator-clocks",
          Note.Info,
          "Nothing tells how far the executors' clocks differ, so operator latencies take them for equal. The plugin compares the clocks."
        ))
      case Some(bound) if bound > work.path.latency =>
        Seq(Note(
          "operator-bound",
          Note.Warn,
          s"Executors' clocks are known to ${Readable.duration(bound)} only, more than the batch took: its operator latencies " +
            "may be wrong by as much.",
          numbers = Seq("boundMs" -> Mean(bound))
        ))
      case _ => Nil
    }
  }
}
