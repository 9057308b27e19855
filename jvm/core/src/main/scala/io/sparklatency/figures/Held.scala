package io.sparklatency.figures

/**
 * That records come to a node from an operator that may hold them until a later batch, as an aggregate or a join does.
 *
 * @param windowMs how long the windows of time are in which it puts them; none where it puts them in none
 * @param gapMs    how long after its last record a session ends in which it puts them; none where it puts them in none, or it depends on
 *                 the record
 * @param laterMs  how much later the watermark passes a time there than before: so much older may be what a join before it gives out
 * @param eachBatch whether each batch gives out what there is so far, as in update and complete mode: then none waits for the watermark
 * @param until    what they wait for
 */
final case class Held(
    windowMs: Option[Long] = None,
    gapMs: Option[Long] = None,
    laterMs: Long = 0,
    eachBatch: Boolean = false,
    until: Held.Until = Held.Watermark
) {

  /** Whether results are kept until the watermark has passed them: what only forgets by it gives them out before. */
  def awaitsWatermark: Boolean =
    !eachBatch && Seq(Held.Watermark, Held.MatchOrWatermark, Held.FunctionOrWatermark).contains(until)
}

object Held {

  /** @param name in events */
  sealed abstract class Until(val name: String) extends Product with Serializable

  /** As an aggregate does. Of a join that an older sparklatency has told of, also a match. */
  case object Watermark extends Until("watermark")

  /** In a join that gives out matches alone. */
  case object Match extends Until("match")

  /** In a join that also gives out what has found none. */
  case object MatchOrWatermark extends Until("match-or-watermark")

  /** Of the user's, which keeps state of its own. */
  case object Function extends Until("function")

  /** The same, which also goes by event time. */
  case object FunctionOrWatermark extends Until("function-or-watermark")

  val all: Seq[Until] = Seq(Watermark, Match, MatchOrWatermark, Function, FunctionOrWatermark)
}
