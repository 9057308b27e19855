package io.sparklatency.answer

import io.sparklatency.figures.Batch
import io.sparklatency.figures.Held
import io.sparklatency.figures.SourceWatermark
import io.sparklatency.figures.WatermarkKind

/** For what records wait in the state of a node. */
private[answer] object StateWait {

  /** When records leave the state of a node, and what makes that earlier. */
  def leaving(batch: Batch, node: String, advice: Option[WatermarkAdvice]): String = {
    val at = batch.nodes.find(_.id == node)
    val held = at.flatMap(_.held)
    val sides = at.fold(0)(_.upstream.distinct.size)
    val (end, shorterOnes) = (held.flatMap(_.windowMs), held.flatMap(_.gapMs)) match {
      case (Some(ms), _) =>
        (s"the end of their window of ${Readable.duration(ms.toDouble)}", "delay or window")
      case (_, Some(ms)) =>
        (s"the end of their session, ${Readable.duration(ms.toDouble)} after its last record", "delay or gap")
      case _ => ("them", "delay or window")
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
          val younger = waitedFor.flatMap(behindOthers(batch, _, far)).orElse(
            cadence.filter(_.ms > delay).map(betweenBatches(_, held))
          ).orElse(
            advice.filter(_.isShorter).map(advice =>
              s": ${advice.better} are enough for ${WatermarkAdvice.Percent} % of records, and make them ${advice.earlier} younger."
            )
          ).getOrElse(s": a shorter $shorterOnes makes them younger.")
          s" They leave when $it $end$younger"
        }
    }
  }

  /** Where events of one source are further behind those of another than anything else makes them wait. */
  private def behindOthers(batch: Batch, slow: SourceWatermark, farMs: Long): Option[String] = for {
    slowest <- slow.newestMs
    fast <- batch.watermarks.filter(_.kind == slow.kind).maxByOption(_.newestMs)
    newest <- fast.newestMs if newest - slowest > farMs
  } yield s". The events of ${Readable.name(slow.source)} are ${Readable.duration((newest - slowest).toDouble)} behind those of " +
    s"${Readable.name(fast.source)}: look at who writes them, and at what limits that source."

  /** Where batches are further apart than the watermark waits, another delay does little. */
  private def betweenBatches(cadence: Cadence, held: Option[Held]): String = {
    def isLonger(of: Held => Option[Long]) = held.flatMap(of).exists(_ > cadence.ms)
    val also = if (isLonger(_.windowMs)) " or window" else if (isLonger(_.gapMs)) " or gap" else ""
    val what = if (cadence.isTriggers) s"a shorter trigger interval$also makes" else "shorter batches make"
    s". It moves only with a batch, one every ${Readable.duration(cadence.ms)}: $what them younger."
  }

  private val Matched = "a match comes from the other side"
  private val GivenOut = "the function that keeps them gives them out"
}
