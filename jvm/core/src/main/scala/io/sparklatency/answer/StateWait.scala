package io.sparklatency.answer

import io.sparklatency.figures.Batch
import io.sparklatency.figures.Held
import io.sparklatency.figures.SourceWatermark
import io.sparklatency.figures.WatermarkKind

/** For what records wait in the state of a node. */
private[answer] object StateWait {

  /**
   * When records leave the state of a node, and what makes that earlier.
   *
   * @param waitedMs how long they were there
   */
  def leaving(batch: Batch, node: String, waitedMs: Double, advice: Option[WatermarkAdvice]): String = {
    val at = batch.nodes.find(_.id == node)
    val held = at.flatMap(_.held)
    val sides = at.fold(0)(_.upstream.distinct.size)
    val end = (held.flatMap(_.windowMs), held.flatMap(_.gapMs)) match {
      case (Some(ms), _) =>
        s"the end of their window of ${Readable.duration(ms.toDouble)}"
      case (_, Some(ms)) =>
        s"the end of their session, ${Readable.duration(ms.toDouble)} after its last record"
      case _ => "them"
    }
    val waitedFor = batch.watermarks.find(_.holdsBack).orElse(batch.watermarks.headOption)
    val passes = waitedFor.map { watermark =>
      val newest = if (watermark.kind == WatermarkKind.SystemTime) "the clock" else "its newest event"
      s"the watermark of ${Readable.name(watermark.source)}, ${Readable.duration(watermark.delayMs.toDouble)} behind $newest, passes"
    }
    def leave(when: String, also: Option[String]) = s" They leave when $when${also.fold("")(", " + _)}."
    held.fold[Held.Until](Held.Watermark)(_.until) match {
      case Held.Match => leave(Matched, None)
      case Held.MatchOrWatermark => leave(Matched, passes.map(it => s"or when $it them"))
      case Held.Function => leave(GivenOut, None)
      case Held.FunctionOrWatermark =>
        leave(GivenOut, passes.map(it => s"as it may when $it a time that it has set"))
      // Of a join, as an older sparklatency has told of it. An aggregation of a union has several inputs too.
      case Held.Watermark if held.isEmpty && sides > 1 =>
        leave(Matched, passes.map(it => s"or when $it $end"))
      case Held.Watermark => passes.fold("") { it =>
          val delay = waitedFor.fold(0L)(_.delayMs)
          val cadence = Cadence.of(batch)
          val far = delay.max(cadence.fold(0L)(_.ms.toLong))
          val orWindow = if (waitedMs > delay + movesWithinMs(batch)) alsoShorter(held) else ""
          val younger = waitedFor.flatMap(behindOthers(batch, _, far)).orElse(
            cadence.filter(_.ms > delay).map(betweenBatches(_, orWindow))
          ).orElse(advice.map(better(orWindow)))
            .getOrElse(s": a shorter delay$orWindow makes them younger.")
          def isFurther(ms: Long) = waitedFor.exists(behindOthers(batch, _, ms).nonEmpty)
          val range = held.map(_.laterMs).filter(ms => ms > far && !isFurther(ms))
          def beyond(ms: Long) = if (waitedMs > delay + ms + movesWithinMs(batch)) alsoShorter(held) else ""
          s" They leave when $it $end${range.fold(younger)(ms => later(ms, beyond(ms)))}"
        }
    }
  }

  /** Where a join before keeps them longer than the delay and another source do. */
  private def later(ms: Long, orWindow: String): String =
    s", and ${Readable.duration(ms.toDouble)} more: for so long a join before may give out older records. A shorter range of time in its " +
      s"condition makes them younger.${andWindow(orWindow, ", too")}"

  /** Where events of one source are further behind those of another than anything else makes them wait. */
  private def behindOthers(batch: Batch, slow: SourceWatermark, farMs: Long): Option[String] = for {
    slowest <- slow.newestMs
    fast <- batch.watermarks.filter(_.kind == slow.kind).maxByOption(_.newestMs)
    newest <- fast.newestMs if newest - slowest > farMs
  } yield s". The events of ${Readable.name(slow.source)} are ${Readable.duration((newest - slowest).toDouble)} behind those of " +
    s"${Readable.name(fast.source)}: look at who writes them, and at what limits that source."

  /**
   * What else than the watermark keeps a result: all that comes into its window, if it is dated by that. Dated by the end of the window, as
   * automatic nodes have it, it waits for the watermark alone.
   */
  private def alsoShorter(held: Option[Held]): String =
    if (held.exists(_.gapMs.nonEmpty)) " or gap" else " or window"

  /** A batch sees what moves the watermark, and the next one goes by it. The longest counts: one without data is short. */
  private def movesWithinMs(batch: Batch): Double = 2 * (
    batch.admission.toSeq.flatMap(of => of.tookMs +: of.intervalMs.toSeq).map(_.toDouble) ++
      (batch.before ++ batch.cameIn).map(_.tookMs)
  ).maxOption.getOrElse(0.0)

  /** Of a window or gap that is worth a change beside another, in a sentence of its own. */
  private def andWindow(orWindow: String, also: String): String =
    if (orWindow.isEmpty) "" else s" A shorter${orWindow.stripPrefix(" or")} makes them younger$also."

  private def better(orWindow: String)(advice: WatermarkAdvice): String =
    if (advice.isShorter)
      s": ${advice.better} are enough for ${WatermarkAdvice.Percent} % of records, and make them ${advice.earlier} younger." +
        andWindow(orWindow, ", too")
    else
      s". A shorter delay would drop more: at least ${Readable.count(advice.late)} of ${Readable.count(advice.records)} came later than " +
        s"it.${andWindow(orWindow, "")}"

  /** Where batches are further apart than the watermark waits, another delay does little. */
  private def betweenBatches(cadence: Cadence, orWindow: String): String = {
    val what =
      if (cadence.isTriggers) s"a shorter trigger interval$orWindow makes"
      else s"shorter batches$orWindow make"
    s". It moves only with a batch, one every ${Readable.duration(cadence.ms)}: $what them younger."
  }

  private val Matched = "a match comes from the other side"
  private val GivenOut = "the function that keeps them gives them out"
}
