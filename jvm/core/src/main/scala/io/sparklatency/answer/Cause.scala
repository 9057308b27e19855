package io.sparklatency.answer

import io.sparklatency.figures.Admission
import io.sparklatency.figures.Batch
import io.sparklatency.path.BatchFilling
import io.sparklatency.path.BatchStart
import io.sparklatency.path.LatencyPath

/**
 * What makes records old: the part of their age that leads, and what makes it lead. Where records wait for the batch before, that
 * is the step which fills the batch.
 *
 * @param part  the one that leads
 * @param whole what all parts take together; the mean age at the commit, where none is negative
 * @param nodes whose step it is; none where no step is to blame
 * @param words the sentence, and what to do
 */
final case class Cause(part: Parts.Part, whole: Double, nodes: Seq[String], words: Headline.Words)

object Cause {
  import Headline.Words

  /** Of a batch and the path of its own nodes; none where it does not tell its parts. */
  def of(batch: Batch, path: LatencyPath): Option[Cause] = Parts.of(batch, path).flatMap(of(batch, _, None))

  /** The step that is the cause, where one is; where no cause is known, the one at which records grow old most. */
  def slowestStep(cause: Option[Cause], path: LatencyPath): Option[String] =
    cause.fold(path.slowestStep.map(_.id))(_.nodes.headOption)

  /**
   * @param batch the one that `parts` were made of
   * @param watermark what another delay would do
   */
  private[answer] def of(
      batch: Batch,
      parts: Parts,
      watermark: Option[WatermarkAdvice]
  ): Option[Cause] = for {
    age <- batch.parts
    admission <- batch.admission
    // What is negative takes no time, and has no share.
    whole = parts.of.map(_.ms.max(0)).sum
    leading <- parts.of.find(isAhead(_, whole)).orElse(longest(parts.of))
  } yield {
    val figures = Readable.part(leading.ms, whole, leading.share)
    lazy val by =
      batch.nodes.find(_.id == age.end).flatMap(_.timestamp).fold("")(timestamp =>
        s", by ${Readable.name(timestamp.column)}"
      )
    lazy val filling = batch.cameIn.getOrElse(BatchFilling.of(batch, admission))
    // Partitions are known of this batch alone.
    def skewed(node: String) = if (batch.cameIn.isEmpty) Skew.of(batch, node) else None
    lazy val limit = admission.limit.fold("a limit")(Readable.name(_))
    def because(nodes: Seq[String], before: String, after: String): Cause =
      Cause(
        leading,
        whole,
        nodes,
        if (nodes.isEmpty) Words(before + after) else Words(before, Readable.nodes(nodes), after)
      )
    leading.kinds.head match {
      case Parts.ArrivedOld if leading.ms < 0 =>
        val ahead = -leading.ms
        because(
          Nil,
          s"Records are ahead of the clock, by ${Readable.duration(ahead)} on average$by, so nobody knows how long they waited: " +
            Writers + OddTimestamps.ahead(ahead.round),
          ""
        )
      case Parts.ArrivedOld if admission.isFirst || admission.fromFirst =>
        val since =
          if (admission.isFirst) "This is its first batch"
          else if (admission.limit.isEmpty) "They came in with its first batches"
          else s"$limit has left some behind since its first batch"
        because(
          Nil,
          s"Records are older than the run: $figures$by. $since, so they may have waited for the run to begin: no step of the query is " +
            "the cause." + OddTimestamps.behind(leading.ms),
          ""
        )
      case Parts.ArrivedOld =>
        because(
          Nil,
          s"Records arrive old: $figures$by. They were not there to be read before, so no step of the query is the cause: " +
            Writers + OddTimestamps.behind(leading.ms),
          ""
        )
      case Parts.Backlog if admission.waitsForMore =>
        val orDelay = if (admission.limit.contains(Admission.MinOffsets)) ", or maxTriggerDelay" else ""
        because(
          Nil,
          s"Records wait in the backlog, $figures: $limit waits for more of them. Lower it$orDelay.",
          ""
        )
      case Parts.Backlog =>
        val by = FilledBatch.of(filling, age.end, skewed)
        because(
          by.nodes,
          s"Records wait in the backlog, $figures: $limit admits no more. ${by.before}",
          (by.after +: by.skew.toSeq :+ "Raise the limit, or make the batch faster.").mkString(" ")
        )
      case Parts.BatchBefore =>
        val by = FilledBatch.before(batch, filling, age.end, skewed)
        because(
          by.nodes,
          s"Records wait for the batch before, $figures. ${by.before}",
          s"${by.after} ${by.remedy}"
        )
      case Parts.Trigger =>
        val every = admission.intervalMs.filter(_ > 0).fold("")(ms =>
          s" It comes every ${Readable.duration(ms.toDouble)}."
        )
        because(
          Nil,
          s"Records wait for the trigger, $figures.$every A shorter interval makes them younger.",
          ""
        )
      case Parts.Start =>
        because(
          Nil,
          s"It takes long until a batch begins to read, $figures${start(batch, admission, leading.ms)}",
          ""
        )
      case Parts.State =>
        val node = leading.nodes.headOption.getOrElse(age.end)
        val isSoFar = batch.nodes.find(_.id == node).flatMap(_.held).exists(_.eachBatch)
        if (isSoFar) because(
          Seq(node),
          "Results at ",
          s" are dated by older records in them, $figures$by. Each batch gives out what there is so far, so none waits for the watermark."
        )
        else because(
          Seq(node),
          "Records wait in state before ",
          s", $figures.${StateWait.leaving(batch, node, watermark)}"
        )
      case Parts.Commit =>
        because(
          Seq(age.end),
          "What comes after ",
          s" takes $figures: the sink, and whatever stands before it without a node. Make that faster."
        )
      case _ => work(
          leading,
          parts,
          whole,
          figures,
          FilledBatch.skew(leading.nodes, Skew.of(batch, _)).getOrElse(FilledBatch.Faster),
          because
        )
    }
  }

  /**
   * The longest part of what takes longest as a whole. The work at many steps is one thing, which may take longest though no step of it
   * does.
   */
  private def longest(parts: Seq[Parts.Part]): Option[Parts.Part] = {
    val taken = parts.filter(_.ms > 0)
    def together(kinds: Seq[Parts.Kind]) = taken.filter(_.kinds == kinds)
    taken.map(_.kinds).distinct.maxByOption(together(_).map(_.ms).sum).map { kinds =>
      val (steps, others) = together(kinds).partition(_.isOneStep)
      (if (steps.isEmpty) others else steps).maxBy(_.ms)
    }
  }

  /** What takes long before the first read. Of records that came in with another batch nobody knows. */
  private def start(batch: Batch, admission: Admission, ms: Double): String = {
    val of = BatchStart.of(batch, admission)
    val most = Seq(of.rest, of.jobs, of.log).max
    val told = s", ${Readable.duration(most.min(ms))} of it"
    if (ms > of.whole * (1 + Rounding) + 1 || most == of.rest)
      ": offsets, planning, scheduling. Fewer files and partitions make it shorter."
    else if (most == of.jobs) s"$told ${FilledBatch.Jobs} ${FilledBatch.CacheOrMark}"
    else s"$told to write the log of the checkpoint. A faster file system makes it shorter."
  }

  private def work(
      step: Parts.Part,
      parts: Parts,
      whole: Double,
      figures: String,
      remedy: String,
      because: (Seq[String], String, String) => Cause
  ): Cause = {
    val isAlone = parts.of.forall(other => other.kinds == step.kinds || other.ms <= step.ms)
    val all = parts.of.filter(_.kinds == step.kinds).map(_.ms).sum
    val (first, own) =
      if (isAlone) ("", figures)
      else (
        s"Work takes longest, ${Readable.part(all, whole, all / whole)}. ",
        s"${Readable.duration(step.ms)} (${Readable.percent(step.share)})"
      )
    if (step.place.contains(Parts.BetweenStages)) {
      val what = if (isAlone) "Work takes longest" else "The longest of it lies"
      because(
        Nil,
        s"$first$what ${Parts.BetweenStages.words}, $own: ${FilledBatch.Unnamed} ${FilledBatch.MarkThere}",
        ""
      )
    } else if (step.nodes.isEmpty) because(Nil, s"Work takes longest, $figures.", "")
    else {
      val before = if (step.nodes.size == 1 && step.place.contains(Parts.AtNode)) "" else "the stage of "
      because(step.nodes, s"${first}Slowest step: $before", s", $own. $remedy")
    }
  }

  /** Whether records came so far ahead of the clock that they are not as old as what their batch did with them. */
  private def isAhead(part: Parts.Part, whole: Double): Boolean =
    part.kinds.head == Parts.ArrivedOld && part.ms < -whole

  private val Writers = "look at who writes them, and at their clock."

  /** Of histograms of ages. */
  private val Rounding = 0.01
}
