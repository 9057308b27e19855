package io.sparklatency.answer

import io.sparklatency.figures.ExecutorClock
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.path.LatencyPath
import io.sparklatency.path.LatencySplit

/**
 * All that a surface says of one run of a query, as data: figures, headline, parts and notes. Surfaces render it and add no
 * judgement of their own, so two of them never disagree about one moment. Immutable; what nobody reads is not computed.
 *
 * @param status none where no event tells
 * @param clocks those of the executors now; none of a run that has ended
 * @param error  the first line of what ended it
 * @param found  what planning has found in it
 * @param droppedEvents how many Spark has dropped that figures are made of; none of a run that has ended
 */
final class QueryAnswer(
    val query: QuerySnapshot,
    val status: Option[RunStatus],
    clocks: Seq[ExecutorClock] = Nil,
    error: Option[String] = None,
    found: Seq[Note] = Nil,
    droppedEvents: Long = 0
) {

  /** Of the window; in silence of each node's last batch. */
  lazy val path: LatencyPath = new LatencyPath(query.latest)

  /** Of the last batch that let records out, as [[QuerySnapshot.divided]] has it; where no batch ends, of the window. */
  lazy val split: LatencySplit = divided.split
  private lazy val divided = new LatencyPath(query.divided)

  /** Of the last batch that tells them; where no batch ends, of the window. */
  lazy val parts: Parts = Parts.of(query, divided)
  lazy val cause: Option[Cause] =
    if (query.hasNoEnd) new EndlessCause(query, path).cause
    else query.explained.flatMap(Cause.of(_, parts, watermark))
  private lazy val watermark = WatermarkAdvice.of(query)
  lazy val headline: Headline = Headline.of(path, cause, progress, work)

  /** As [[Cause.slowestStep]] has it; without timestamps the one that is at work longest. None where results wait for a silent source. */
  def slowestStep: Option[String] =
    if (headline.code == Headline.SilentSource) None
    else if (query.goesByMarkers) work.flatMap(Headline.slowestStep)
    else Cause.slowestStep(cause, path)

  /** Of the last batch that had records; where no batch ends, of the last second that its tasks told of. */
  lazy val work: Option[Work] = query.times.map(Work.of(_, query.workedMs))

  /** Of the batch in progress, up to now. */
  lazy val workSoFar: Option[Work] =
    query.soFar.map(Work.of(_, query.atMs.filter(_ => query.activity.exists(_.isWithoutTasks))))

  /** How the run goes. */
  lazy val progress: Progress = Progress(query, status, error)
  lazy val notes: Seq[Note] =
    Progress.notes(progress) ++ DroppedEvents.note(droppedEvents) ++ Notes.of(query, path, split, found) ++
      watermark.map(_.note) ++ found ++ Work.notes(work) ++ ClockNote.of(clocks)
}
