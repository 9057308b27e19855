package io.sparklatency.answer

import io.sparklatency.figures.Batch
import io.sparklatency.figures.Filling

/**
 * Words about what fills a batch.
 *
 * @param nodes  to name between `before` and `after`; none where no step is to blame
 * @param remedy what to do
 * @param skew   that a partition of the node is what takes long, and what to do about it
 */
private[answer] final case class FilledBatch(
    nodes: Seq[String],
    before: String,
    after: String,
    remedy: String,
    skew: Option[String] = None
)

private[answer] object FilledBatch {
  val Faster = "Make that faster, or give it more cores."
  val Unnamed =
    "while tasks start, in stages without one, in foreachBatch itself, or where that reads its rows again."
  val Shorter = "Fewer files and partitions make it shorter."
  val MarkThere = "Persist what foreachBatch reads twice, or mark a step there to see whose it is."
  val Jobs =
    "between planning and the first read: a table that is broadcast, stages without a node, what foreachBatch does first, or a wait for " +
      "cores."
  val CacheOrMark = "Cache such a table, or mark a step there to see whose it is."

  /** Of one node alone: the partitions of several differ. */
  def skew(nodes: Seq[String], of: String => Option[String]): Option[String] = nodes match {
    case Seq(node) => of(node)
    case _ => None
  }

  /**
   * @param end    the node that the records left last
   * @param skewed what to do about a node whose stage waits for one partition, and whether all of that stage is told
   */
  def of(filling: Filling, end: String, skewed: (String, Boolean) => Option[String]): FilledBatch =
    of(filling, EachTakes, end, skewed)

  private def of(
      filling: Filling,
      batch: String,
      end: String,
      skewed: (String, Boolean) => Option[String]
  ): FilledBatch = {
    lazy val skew = FilledBatch.skew(filling.nodes, skewed(_, filling.kind == Filling.Stage))
    val took = s"$batch ${Readable.duration(filling.tookMs)}, ${Readable.duration(filling.ms)} of it"
    filling.kind match {
      case Filling.Node => FilledBatch(filling.nodes, s"$took at ", ".", skew.getOrElse(Faster), skew)
      case Filling.Stage if filling.nodes.isEmpty =>
        FilledBatch(Nil, s"$took ${Parts.BetweenStages.words}: $Unnamed", "", MarkThere)
      case Filling.Stage =>
        FilledBatch(filling.nodes, s"$took in the stage of ", ".", skew.getOrElse(Faster), skew)
      case Filling.After =>
        val nodes = if (filling.nodes.isEmpty) Seq(end) else filling.nodes
        FilledBatch(
          nodes,
          s"$took after ",
          ".",
          "Make the sink faster, and whatever stands before it without a node."
        )
      case Filling.Start =>
        val before = s"$took before its first read: offsets, planning, scheduling."
        FilledBatch(Nil, before, "", Shorter)
      case Filling.Jobs => FilledBatch(Nil, s"$took $Jobs", "", CacheOrMark)
      case Filling.Log =>
        val before = s"$took to write the log of its checkpoint."
        FilledBatch(Nil, before, "", "Keep the checkpoint on a faster file system.")
    }
  }

  /** What fills the batch that records waited for. It may have been another than most. */
  def before(
      batch: Batch,
      own: Filling,
      end: String,
      skewed: (String, Boolean) => Option[String]
  ): FilledBatch = {
    val before = batch.before.getOrElse(own)
    val isAnother = before.tookMs > Alike * own.tookMs
    if (isAnother) of(before, "The batch before took", end, (_, _) => None)
    else of(before, end, skewed)
  }

  private val EachTakes = "A batch takes"

  /** Up to so many times as long is like the next one. */
  private val Alike = 2
}
