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

  /** How long it was from the last write until then, in milliseconds. */
  def behind(untilMs: Double): Double = untilMs - times.firstReadMicros / 1000.0 - latency

  /** What the stage at the end of the critical path does, its waiting aside. */
  lazy val lastSteps: Seq[Step] = critical.path.lastOption.map(stages).toSeq.flatMap(stepsOf)
    .filter(step => step.ms > 0 && step.kind != Waiting)

  /** The step that took longest, of several the first; none where nothing took time. */
  def longest: Option[Step] = steps.maxByOption(_.ms)

  /** The nodes on the critical path, upstream first. */
  val nodes: Seq[String] = critical.path.map(stages).flatMap(_.path).distinct

  /** A step's part of the whole, between 0 and 1. */
  def share(step: Step): Double = share(step.ms)

  /** What part of the whole a node's operator latency is, if it is known and on the path. */
  def share(node: String): Option[Double] = ofNodes.get(node).map(share)

  /** The application latency if this node cost nothing. It goes down by less than the node's latency where another way is as slow. */
  def without(node: String): Double =
    if (!ofNodes.contains(node)) latency
    else if (stages.size == 1) (latencies.head - ofNodes(node)).max(0)
    else {
      val others = stages.zip(latencies).map { case (stage, ms) =>
        if (stage.path.contains(node)) ms - latencyIn(stage, node).getOrElse(0.0) else ms
      }
      CriticalPath.of(others, stages(_).upstream).latency
    }

  /** What is known of the nodes on the path. */
  private lazy val ofNodes: Map[String, Double] = {
    val known = for (place <- critical.path; id <- stages(place).path; ms <- latencyIn(stages(place), id))
      yield id -> ms
    known.groupMapReduce { case (id, _) => id } { case (_, ms) => ms }(_ + _)
  }

  private def share(ms: Double) = if (latency > 0) (ms / latency).min(1.0) else 0.0

  private def latencyIn(stage: StageTimes, node: String): Option[Double] =
    stage.node(node).flatMap(_.latencyMs)

  /** When it could have begun. */
  private def begin(stage: StageTimes): Double = stage.upstream.map(stages(_).endMs).maxOption.getOrElse(0)

  private def stepsOf(stage: StageTimes): Seq[Step] = {
    val kind = if (endsWith(stage)) Last else Node
    val ofNodes = stage.path.flatMap(id => latencyIn(stage, id).map(Step(kind, Seq(id), _)))
    waiting(stage) ++ ofNodes :+ Step(Rest, stage.path, stage.restMs)
  }

  /** Whether it is the last of all, behind a shuffle, and has one node: then nobody sees what of its time is behind that node. */
  private def endsWith(stage: StageTimes): Boolean =
    critical.path.lastOption.exists(stages(_).eq(stage)) && stage.upstream.nonEmpty && stage.nodes.size == 1

  /**
   * From when a stage could have begun until it did. While other stages with nodes ran, it waited for their slots. While none did, nobody
   * held it up whose name is known.
   */
  private def waiting(stage: StageTimes): Seq[Step] = {
    val (from, until) = (begin(stage), stage.startMs)
    val others = stages.filter(other => other.ne(stage) && other.startMs < until && other.endMs > from)
    val (held, _) = others.map(other => (other.startMs.max(from), other.endMs.min(until)))
      .sortBy { case (start, _) => start }
      .foldLeft((0.0, from)) { case ((ms, reached), (start, end)) =>
        (ms + (end - start.max(reached)).max(0), reached.max(end))
      }
    val free = Some(until - from - held).filter(_ > Rounding).getOrElse(0.0)
    Seq(
      Step(Waiting, others.flatMap(_.nodes.map(_.node)).distinct, until - from - free),
      Step(Waiting, Nil, free)
    )
  }
}

object OperatorPath {

  /** Of sums of times, in milliseconds. */
  private val Rounding = 1e-6

  /**
   * @param nodes whose it is: one node; all of a stage, where they cannot be told apart; or those that ran while a stage waited for
   *              its turn
   */
  final case class Step(kind: Kind, nodes: Seq[String], ms: Double)

  sealed abstract class Kind(val name: String) extends Product with Serializable

  /** The operators between a node and the one before it. */
  case object Node extends Kind("node")

  /** The last stage, where its only node is behind a shuffle: the operators before the node, and what the sink does with their rows. */
  case object Last extends Kind("stage")

  /** What a stage does beside that: it reads, writes, and does what cannot be told apart. */
  case object Rest extends Kind("stage")

  /** Between two stages: scheduling, what a task does before it asks for a row, stages without a node, and others that have the slots. */
  case object Waiting extends Kind("waiting")
}
