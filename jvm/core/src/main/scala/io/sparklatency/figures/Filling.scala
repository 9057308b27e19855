package io.sparklatency.figures

/**
 * What a batch spent most of its time on, by the driver's clock.
 *
 * @param tookMs how long it took in all
 * @param kind   what it was
 * @param nodes  whose step it was, or behind which; none of what comes before the first read or between stages, and of the checkpoint
 * @param ms     how long that took, of all
 */
final case class Filling(tookMs: Double, kind: Filling.Kind, nodes: Seq[String], ms: Double)

object Filling {

  /** @param name in events */
  sealed abstract class Kind(val name: String) extends Product with Serializable

  /** Offsets, planning, scheduling, until the first read. */
  case object Start extends Kind("start")

  /** What is done between planning and the first read: the jobs of a table that is broadcast, stages without a node. */
  case object Jobs extends Kind("jobs")

  /** The operators between a node and the one before it. */
  case object Node extends Kind("node")

  /** A stage, whose nodes cannot be told apart. Without nodes it is what lies between stages: their start, and stages without a node. */
  case object Stage extends Kind("stage")

  /** What comes after the last node: the sink, and whatever stands before it without a node. */
  case object After extends Kind("after")

  /** Spark's own log in the checkpoint, before the first read and behind the commit. */
  case object Log extends Kind("log")

  val kinds: Seq[Kind] = Seq(Start, Jobs, Node, Stage, After, Log)
}
