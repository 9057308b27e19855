package io.sparklatency.path

import io.sparklatency.figures.BatchTimes
import io.sparklatency.figures.StageTimes

/**
 * Where the time of a batch went, by what its operators did. Beside it, [[LatencyPath]] goes by the age of records.
 *
 * A stage's latency is from when the last of those before it was over, or else from the first read of the batch, until it is over
 * itself. The critical path is the way through the stages that takes longest; its latencies add up to the time between the first
 * read and the last write.
 */
final class OperatorPath(times: BatchTimes) {
  import OperatorPath._

  private val stages = times.stages.toIndexedSeq
  private val latencies = stages.map(stage => stage.endMs - begin(stage))
  private val critical = CriticalPath.of(latencies, stages(_).upstream)

  /** The application latency: how long the critical path took, in milliseconds. */
  def latency: Double = critical.latency

  /** What follows one another on the critical path. Durations are not negative, and add up to [[latency]]. */
  val steps: Seq[Step] = critical.path.map(stages).flatMap(stepsOf).filter(_.ms > 0)

  /** The step that took longest, of several the first; none where nothing took time. */
  def longest: Option[Step] = steps.maxByOption(_.ms)

  /** The nodes on the critical path, upstream first. */
  def nodes: Seq[String] = critical.path.map(stages).flatMap(_.path).distinct

  /** A step's part of the whole, between 0 and 1. */
  def share(step: Step): Double = share(step.ms)

  /** What part of the whole a node's operator latency is, if it is known and on the path. */
  def share(node: String): Option[Double] = {
    val own = steps.filter(_.isOf(node))
    if (own.nonEmpty) Some(share(own.map(_.ms).sum))
    else Option.when(isKnown(node) && nodes.contains(node))(0)
  }

  /** The application latency if this node cost nothing. It goes down by less than the node's latency where another way is as slow. */
  def without(node: String): Double = {
    val saved =
      stages.map(stage => if (stage.path.contains(node)) stage.node(node).flatMap(_.latencyMs) else None)
    val others = latencies.zip(saved).map { case (ms, saved) => ms - saved.getOrElse(0.0) }
    CriticalPath.of(others, stages(_).upstream).latency
  }

  private def share(ms: Double) = if (latency > 0) (ms / latency).min(1.0) else 0.0

  private def isKnown(node: String) = stages.exists(_.node(node).exists(_.latencyMs.nonEmpty))

  /** When it could have begun. */
  private def begin(stage: StageTimes): Double = stage.upstream.map(stages(_).endMs).maxOption.getOrElse(0)

  private def stepsOf(stage: StageTimes): Seq[Step] = {
    val waited = stage.startMs - begin(stage)
    val ofNodes = stage.path.flatMap(id => stage.node(id).flatMap(_.latencyMs).map(Step(Node, Seq(id), _)))
    Step(Waiting, meanwhile(stage), waited) +: ofNodes :+ Step(Rest, stage.path, stage.restMs)
  }

  /** The nodes of other stages that held the slots while this one could have begun and had not. */
  private def meanwhile(stage: StageTimes): Seq[String] = {
    val from = begin(stage)
    stages.filter(other => other.ne(stage) && other.startMs < stage.startMs && other.endMs > from)
      .flatMap(_.nodes.map(_.node)).distinct
  }
}

object OperatorPath {

  /**
   * @param nodes whose it is: one node; all of a stage, where they cannot be told apart; or those that ran while a stage waited for
   *              its turn
   */
  final case class Step(kind: Kind, nodes: Seq[String], ms: Double) {
    def isOf(node: String): Boolean = kind == Node && nodes.contains(node)
  }

  sealed abstract class Kind(val name: String) extends Product with Serializable

  /** The operators between a node and the one before it. */
  case object Node extends Kind("node")

  /** What a stage does beside that: it reads, writes, and does what cannot be told apart. */
  case object Rest extends Kind("stage")

  /** Between two stages: scheduling, stages without a node, and others that have the slots. */
  case object Waiting extends Kind("waiting")
}
