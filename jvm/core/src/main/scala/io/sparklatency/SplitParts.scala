package io.sparklatency

/**
 * The mean age of the records at the end of a batch, in the parts that are known, which follow one another and make up the
 * whole.
 *
 * @param notes what is not known, and why
 */
final case class SplitParts(parts: Seq[SplitParts.Part], notes: Seq[String]) {
  def whole: Double = parts.map(_.ms).sum

  /** Negative parts have none: different records may make one part less than nothing. */
  def share(part: SplitParts.Part): Double = {
    val drawn = parts.map(_.ms.max(0)).sum
    if (drawn > 0) part.ms.max(0) / drawn else 0
  }
}

object SplitParts {

  /** @param names of the parts of the way that are in this one; more than one where they cannot be told apart */
  final case class Part(names: Seq[String], ms: Double)

  val Queuing = "source queuing"
  val Processing = "processing"
  val Commit = "commit"

  /** @param nodes with the figures of a batch, in plan order */
  def of(nodes: Seq[NodeRecord]): SplitParts =
    if (nodes.exists(_.hasRecords)) of(new LatencyPath(nodes))
    else SplitParts(Nil, Seq("No batch with records at a marked node has been committed yet."))

  private def of(path: LatencyPath): SplitParts = {
    val split = path.split
    val (queuing, end) = (split.queuing.avg, path.atEnd(Measure.E2ELatency).avg)
    val beforeCommit = (queuing, end) match {
      case (Some(queued), Some(age)) => Seq(Part(Seq(Queuing), queued), Part(Seq(Processing), age - queued))
      case (None, Some(age)) => Seq(Part(Seq(Queuing, Processing), age))
      case _ => Nil
    }
    val commit = split.commit.flatMap(_.avg).map(Part(Seq(Commit), _))
    SplitParts(
      beforeCommit ++ commit,
      Seq(
        noEnd.filter(_ => end.isEmpty),
        (if (path.sources.isEmpty) noSource else noneAtSource).filter(_ => end.nonEmpty && queuing.isEmpty),
        noCommit.filter(_ => end.nonEmpty && commit.isEmpty),
        otherRecords.filter(_ => end.nonEmpty && split.processing.exists(!_.sameRecords))
      ).flatten
    )
  }

  private val noEnd = Some("No record with a timestamp reached the end of the query in the last batch.")
  private val noSource = Some(
    "Source queuing and processing cannot be told apart: that takes a node where the query reads its sources and another " +
      "behind it."
  )
  private val noneAtSource = Some(
    "Source queuing and processing cannot be told apart: no record with a timestamp came from the sources."
  )
  private val noCommit = Some("Commit is unknown: it was not measured at the last nodes of the query.")
  private val otherRecords =
    Some(
      "More or fewer records reached the end than came in: the parts compare different records, and one may be negative."
    )
}
