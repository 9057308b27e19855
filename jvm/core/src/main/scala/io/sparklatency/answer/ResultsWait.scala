package io.sparklatency.answer

import io.sparklatency.figures.NodeSnapshot
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.path.LatencyPath

/**
 * That nothing comes out of a query any more because a source of it has fallen silent, and holds the watermark back. What made the last
 * results old is no answer then.
 */
private[answer] object ResultsWait {

  /** The note that says so, if all ends are quiet. */
  def of(query: QuerySnapshot, path: LatencyPath): Option[Note] = {
    val ends = path.terminals.flatMap(end => query.nodes.find(_.id == end.id))
    Watermarks.note(query).filter { note =>
      keepsResults(query) && ends.nonEmpty && ends.forall(_.isQuiet) &&
      (note.level == Note.Warn || hasFallenBehind(query, ends))
    }
  }

  private def keepsResults(query: QuerySnapshot): Boolean =
    query.lastBatch.exists(_.nodes.flatMap(_.held).exists(_.awaitsWatermark))

  /**
   * Whether its watermark is further behind than when the last results came. A source that is behind with events that come is not silent:
   * then windows may just not have closed for a while.
   */
  private def hasFallenBehind(query: QuerySnapshot, ends: Seq[NodeSnapshot]): Boolean = {
    val further = for {
      batch <- query.lastBatch
      held <- batch.knownWatermarks.find(_.holdsBack)
      lag <- batch.watermarkLagMs(held)
      last <- ends.filter(_.batchMs.nonEmpty).maxByOption(_.batchMs)
      before <- last.watermarkLagMs(held)
    } yield lag - before
    further.exists(_ > Watermarks.WellPastMs)
  }
}
