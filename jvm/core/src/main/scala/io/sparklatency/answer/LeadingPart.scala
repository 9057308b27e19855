package io.sparklatency.answer

import io.sparklatency.answer.Headline.Words
import io.sparklatency.figures.Admission
import io.sparklatency.figures.AgeParts
import io.sparklatency.figures.Batch
import io.sparklatency.figures.Measure
import io.sparklatency.path.BatchFilling
import io.sparklatency.path.BatchStart

/**
 * What makes the part of an age lead that does, in words, and what to do about it: a sentence for each kind of part.
 *
 * @param age       as the batch tells it
 * @param admission the batch's
 * @param parts     of which this one leads
 * @param whole     what all of them take together, those that are negative aside
 * @param watermark what another delay would do
 */
private final class LeadingPart(
    batch: Batch,
    age: AgeParts,
    admission: Admission,
    parts: Parts,
    part: Parts.Part,
    whole: Double,
    watermark: Option[WatermarkAdvice]
) {
  import LeadingPart._

  def cause: Cause = part.kinds.head match {
    case Parts.ArrivedOld if part.ms < 0 => aheadOfClock
    case Parts.ArrivedOld if admission.isFirst || admission.fromFirst => olderThanTheRun
    case Parts.ArrivedOld => arrivedOld
    case Parts.Backlog if admission.waitsForMore => minimum
    case Parts.Backlog => backlog
    case Parts.BatchBefore => batchBefore
    case Parts.Trigger => trigger
    case Parts.Start => start
    case Parts.State => state
    case Parts.Commit => commit
    case _ => work
  }

  private def noStep(text: String): Cause = Cause(part, whole, Nil, Words(text))

  /** Whose step it is stands between the two texts. */
  private def at(nodes: Seq[String], before: String, after: String): Cause =
    if (nodes.isEmpty) noStep(before + after)
    else Cause(part, whole, nodes, Words(before, Readable.nodes(nodes), after))

  private def figures: String = Readable.part(part.ms, whole, part.share)

  private def by: String = {
    val timestamp = batch.nodes.find(_.id == age.end).flatMap(_.timestamp)
    timestamp.fold("")(read => s", by ${Readable.name(read.column)}")
  }

  private def limit: String = admission.limit.fold("a limit")(Readable.name(_))

  private def filling = batch.cameIn.getOrElse(BatchFilling.of(batch, admission))

  /** Partitions are known of this batch alone. */
  private def skewed(node: String, ofStage: Boolean) =
    if (batch.cameIn.isEmpty) skewOf(node, ofStage) else None

  private def skewOf(node: String, ofStage: Boolean) = batch.times.flatMap(Skew.of(_, node, ofStage))

  private def aheadOfClock: Cause = noStep(OddTimestamps.aheadOfClock(-part.ms, by))

  private def olderThanTheRun: Cause = {
    val since =
      if (admission.isFirst) "This is its first batch"
      else if (admission.limit.isEmpty) "They came in with its first batches"
      else s"$limit has left some behind since its first batch"
    noStep(
      s"Records are older than the run: $figures$by. $since, so they may have waited for the run to begin: no step of the query is " +
        "the cause." + OddTimestamps.behind(part.ms)
    )
  }

  private def arrivedOld: Cause = noStep(
    s"Records arrive old: $figures$by. They were not there to be read before, so no step of the query is the cause: " +
      OddTimestamps.Writers + OddTimestamps.behind(part.ms)
  )

  private def minimum: Cause = {
    val orDelay = if (admission.limit.contains(Admission.MinOffsets)) ", or maxTriggerDelay" else ""
    noStep(s"Records wait in the backlog, $figures: $limit waits for more of them. Lower it$orDelay.")
  }

  private def backlog: Cause = admission.intervalMs.filter(_ > filling.tookMs).fold(limited) { ms =>
    noStep(
      s"Records wait in the backlog, $figures: $limit admits no more, and a batch comes every ${Readable.duration(ms.toDouble)}. Raise " +
        "the limit, or shorten the interval."
    )
  }

  private def limited: Cause = {
    val filled = FilledBatch.of(filling, age.end, skewed)
    at(
      filled.nodes,
      s"Records wait in the backlog, $figures: $limit admits no more. ${filled.before}",
      (filled.after +: filled.skew.toSeq :+ "Raise the limit, or make the batch faster.").mkString(" ")
    )
  }

  private def batchBefore: Cause = {
    val filled = FilledBatch.before(batch, filling, age.end, skewed)
    at(
      filled.nodes,
      s"Records wait for the batch before, $figures. ${filled.before}",
      s"${filled.after} ${filled.remedy}"
    )
  }

  private def trigger: Cause = {
    val interval = admission.intervalMs.filter(_ > 0)
    val every = interval.fold("")(ms => s" It comes every ${Readable.duration(ms.toDouble)}.")
    noStep(s"Records wait for the trigger, $figures.$every A shorter interval makes them younger.")
  }

  /** What takes long before the first read. Of records that came in with another batch nobody knows. */
  private def start: Cause = {
    val of = BatchStart.of(batch, admission)
    val most = Seq(of.rest, of.jobs, of.log).max
    val told = s", ${Readable.duration(most.min(part.ms))} of it"
    val isAnothers = batch.cameIn.nonEmpty || part.ms > of.whole * (1 + Rounding) + 1
    val what =
      if (isAnothers || most == of.rest)
        s": offsets, planning, scheduling. ${FilledBatch.Shorter}"
      else if (most == of.jobs) s"$told ${FilledBatch.Jobs} ${FilledBatch.CacheOrMark}"
      else s"$told to write the log of the checkpoint. A faster file system makes it shorter."
    noStep(s"It takes long until a batch begins to read, $figures$what")
  }

  private def state: Cause = {
    val node = part.nodes.headOption.getOrElse(age.end)
    val isSoFar = batch.nodes.find(_.id == node).flatMap(_.held).exists(_.eachBatch)
    // A group with few records counts as much as one with many. Where some came in as old as results are, nobody knows which it is.
    def cameInAsOld = batch.nodes.exists(node =>
      node.upstream.isEmpty && node(Measure.E2ELatency).max.exists(_ >= age.whole - age.commit - age.work)
    )
    def orCame = if (cameInAsOld) ", or are of small groups that came in older than most" else ""
    if (isSoFar) at(
      Seq(node),
      "Results at ",
      s" are dated by older records in them$orCame, $figures$by. Each batch gives out what there is so far, so none waits for the " +
        "watermark."
    )
    else at(
      Seq(node),
      "Records wait in state before ",
      s", $figures.${StateWait.leaving(batch, node, part.ms, watermark)}"
    )
  }

  private def commit: Cause = at(
    Seq(age.end),
    "What comes after ",
    s" takes $figures: the sink, and whatever stands before it without a node. Make that faster."
  )

  private def work: Cause = {
    val isAlone = parts.of.forall(other => other.kinds == part.kinds || other.ms <= part.ms)
    val all = parts.of.filter(_.kinds == part.kinds).map(_.ms).sum
    val (first, own) =
      if (isAlone) ("", figures)
      else (
        s"Work takes longest, ${Readable.part(all, whole, all / whole)}. ",
        s"${Readable.duration(part.ms)} (${Readable.percent(part.share)})"
      )
    if (part.place.contains(Parts.BetweenStages)) {
      val what = if (isAlone) "Most time passes" else "Most of it passes"
      noStep(
        s"$first$what ${Parts.BetweenStages.words}, $own: ${FilledBatch.Unnamed} ${FilledBatch.MarkThere}"
      )
    } else if (part.nodes.isEmpty)
      noStep(s"Work takes longest, $figures. Mark another step to see whose it is.")
    else {
      val before = if (part.nodes.size == 1 && part.place.contains(Parts.AtNode)) "" else "the stage of "
      val remedy =
        FilledBatch.skew(part.nodes, skewOf(_, ofStage = part.place.contains(Parts.InStage)))
          .getOrElse(FilledBatch.Faster)
      at(part.nodes, s"${first}Slowest step: $before", s", $own. $remedy")
    }
  }
}

private object LeadingPart {

  /** Of histograms of ages. */
  private val Rounding = 0.01
}
