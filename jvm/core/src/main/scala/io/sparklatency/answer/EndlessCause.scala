package io.sparklatency.answer

import io.sparklatency.answer.Headline.Words
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.path.LatencyPath

/**
 * What makes records old where no batch ends for minutes, or ever. Nobody tells there since when a record could have been read, so the age
 * that records are read with is no step's. But while a step is at work all the time, records wait for that. When the run has
 * ended, its last figures tell what they waited for.
 *
 * @param path of the window
 */
private[answer] final class EndlessCause(query: QuerySnapshot, path: LatencyPath) {
  import EndlessCause._

  def cause: Option[Cause] = for {
    step <- path.slowestStep
    own <- path.own(step)
    whole <- path.whole
    share <- path.share(step)
  } yield {
    val figures = Readable.part(own, whole, share)
    if (path.sources.contains(step)) {
      val part = Parts.Part(Seq(Parts.Queuing), own, share = share)
      val busy = if (query.isSilent) None else BusyTask.of(query, behind)
      // Those of the others may be young: parts, where they are told, are of all.
      val at = if (path.sources.size == 1) "" else s" at ${Readable.name(step.id)}"
      val old = s"Records are old when they are read$at, $figures. "
      Cause(part, whole, busy.map(_.node).toSeq, busy.fold(Words(old + withoutBusyTask))(waitFor(_, old)))
    } else {
      val part = Parts.Part(Seq(Parts.Work), own, Some(Parts.AtNode), Seq(step.id), share)
      val words = Words("Slowest step: ", Readable.name(step.id), s", $figures. ${FilledBatch.Faster}")
      Cause(part, whole, part.nodes, words)
    }
  }

  /** The nodes on the way of these records behind the one where they are read. */
  private def behind: Seq[String] = path.critical.drop(1)

  private def waitFor(task: BusyTask, old: String): Words =
    Words(
      s"${old}A task is at work ${task.figures} at ",
      Readable.name(task.node),
      s", and records wait for it. ${FilledBatch.Faster}"
    )

  private def withoutBusyTask: String = {
    val unknown = BusyTask.unknown(query, behind)
    val (from, to) = (Readable.name(path.critical.head), Readable.name(path.critical.last))
    // Who is at work now says nothing of records that came minutes ago.
    if (query.isSilent) "They arrived old, or waited to be read."
    else if (BusyTask.windows(query) == 0)
      s"$OldOrWait No task has told how long its operators are at work."
    else if (unknown.nonEmpty)
      s"$OldOrWait It is not known how long the operators before ${Readable.nodes(unknown)} are at work. $Mark"
    else if (BusyTask.windows(query) < Enough)
      s"$OldOrWait The query has run too briefly to tell whether a task is at work all the time."
    else
      s"No step from $from to $to is at work all the time. So these records arrive old, or wait for what stands before $from or " +
        s"behind $to."
  }
}

private object EndlessCause {
  private val OldOrWait = "They arrive old, or wait for a busy task."
  private val Mark = "Put a mark behind each filter to see more."

  /** Of fewer windows it is not said that no task is at work all the time: in the first ones code is compiled, and sources are opened. */
  private val Enough = 5
}
