package io.sparklatency.answer

import io.sparklatency.figures.Activity
import io.sparklatency.figures.Figure.Whole
import io.sparklatency.figures.QuerySnapshot

/**
 * How a run goes: when it last committed, what it does now, and how it ended.
 *
 * @param run   none where no event tells
 * @param error the first line of what ended it
 */
final case class Progress(query: QuerySnapshot, run: Option[RunStatus], error: Option[String]) {
  import Progress._

  /** What every surface says; none of batch queries, where no event tells, and where there is nothing to say. */
  def text: Option[String] = run.map {
    case RunStatus.Running => (now ++ waits ++ left ++ committed).mkString(" ")
    case RunStatus.Failed =>
      // The line of an error may end a sentence itself.
      val why = error.fold("")(line => s": ${Readable.cut(line).stripSuffix(".").stripSuffix(";")}")
      (s"Failed$why." +: lasted).mkString(" ")
    case RunStatus.Finished => ("Finished." +: lasted).mkString(" ")
  }.filter(_.nonEmpty)

  /**
   * Whether the batch that runs has taken much longer than usual, and long for anybody who waits, and gets on no more. The first batch of
   * a run has all that came before it to read: no matter how long it takes, it hangs only if its tasks stand still.
   */
  def isStalled: Boolean =
    runningMs.exists(ms => ms >= StalledMs && query.usuallyTakesMs.forall(ms > Times * _)) &&
      query.sinceProgressMs.forall(_ >= StalledMs)

  /** That it is, in a sentence. */
  def stalled: Option[String] =
    for (activity <- query.activity; ms <- runningMs if isStalled) yield {
      // For a moment that is so between two stages.
      val idle = activity.tasks.filter(tasks => tasks.running == 0 && tasks.done < tasks.all)
        .fold("")(_ => " No task runs: are there executors?")
      val usually =
        query.usuallyTakesMs.fold("")(ms => s", where one usually takes ${Readable.duration(ms)}")
      s"Batch ${Readable.count(activity.batch)} has run for ${Readable.duration(ms.toDouble)}$usually: ${doing(activity)}$idle"
    }

  /** What ended the run, if an error did. */
  def failed: Option[String] = Option.when(run.contains(RunStatus.Failed))(
    error.fold("An error ended this run.")(line => s"An error ended this run: ${Readable.cut(line)}")
  )

  private def runningMs = query.runningMs.filter(_ => run.contains(RunStatus.Running))

  private def now: Seq[String] = query.activity.toSeq.flatMap { activity =>
    val words = doing(activity)
    Seq(activity.sinceMs.fold(words)(ms =>
      s"Batch ${Readable.count(activity.batch)} has run for ${Readable.duration(ms.toDouble)}: $words"
    ))
  }

  private def waits: Option[String] = query.oldestUncommittedMs.map(ms =>
    s"The oldest record that waits for its commit is at least ${Readable.duration(ms.toDouble)} old."
  )

  private def left: Option[String] = {
    val at = query.activity.toSeq.flatMap(_.left).filter(_.records > 0).map(of =>
      s"${Readable.counted(of.records, "record", "records")} in ${Readable.name(of.source)}"
    )
    Option.when(at.nonEmpty)(s"The last trigger left ${Readable.all(at)}.")
  }

  private def committed: Seq[String] = {
    val last = query.sinceCommitMs.map { ms =>
      val usually =
        query.usuallyMs.fold("")(every => s"; usually there is one every ${Readable.duration(every)}")
      s"The last commit was ${Readable.duration(ms.toDouble)} ago$usually."
    }
    if (query.isUnmarked) last.toSeq :+ noNode
    // Of epochs in continuous mode nobody tells.
    else last.orElse(Option.when(!query.hasNoEnd)("No batch has been committed yet.")).toSeq
  }

  private def lasted: Seq[String] =
    Option.when(
      query.batches > 0
    )(s"${Readable.counted(query.batches, "batch was", "batches were")} committed.").toSeq ++
      Option.when(query.isUnmarked)(noNode)
}

object Progress {

  /** So long may a batch take before it is said that it takes longer than usual. */
  val StalledMs = 30000L

  /** How many times as long as usual. */
  val Times = 5

  private[answer] val noNode = "No node of this query has figures."

  /** What a query does, in Spark's words, and how far its tasks are. */
  private def doing(activity: Activity): String = {
    val tasks = activity.tasks.fold("")(tasks =>
      s", ${Readable.count(tasks.done.toLong)} of ${Readable.counted(tasks.all.toLong, "task", "tasks")} done"
    )
    s"${Readable.cut(activity.doing.stripSuffix("."))}$tasks."
  }

  private[answer] def notes(progress: Progress): Seq[Note] = {
    def note(code: String, numbers: Seq[(String, Whole)])(text: String) =
      Note(code, Note.Wrong, text, numbers = numbers)
    val batch = progress.query.activity.map(activity => "batch" -> Whole(activity.batch))
    val ms = progress.query.runningMs.map(ms => "ms" -> Whole(ms))
    progress.failed.map(note("failed", Nil)).toSeq ++
      progress.stalled.map(note("stalled", batch.toSeq ++ ms))
  }
}
