package io.sparklatency.figures

/**
 * A trigger of a query that found records, by the driver's clock: what it tells of the records that the next one reads. Spark does
 * not tell of a trigger that finds nothing new, so whether there was one in between is worked out.
 *
 * @param startMs        when it came, in milliseconds since the epoch
 * @param lookedMs       how long it asked the sources for how far they go
 * @param tookMs         how long it took in all
 * @param limit          what left records behind
 * @param intervalMs     from trigger to trigger; 0 where the next comes at once
 * @param limitedSinceMs since when a limit has left records behind
 * @param cameMs         when the first of the files that it read had come, of a query that reads files
 */
final case class Trigger(
    startMs: Long,
    lookedMs: Long,
    tookMs: Long,
    limit: Option[Trigger.Limit] = None,
    intervalMs: Option[Long] = None,
    limitedSinceMs: Option[Long] = None,
    cameMs: Option[Long] = None
) {
  import Trigger._

  private def fixedMs: Long = startMs + lookedMs
  private def endedMs: Long = startMs + tookMs

  /** This trigger, which knows since when there is a limit. */
  def after(before: Option[Trigger]): Trigger =
    copy(limitedSinceMs = limit.map(_ => before.flatMap(limitedBefore).getOrElse(fixedMs)))

  /** What held back the records that it read. */
  def admission(before: Option[Trigger]): Admission =
    before.fold(Admission.first(startMs, tookMs)) { before =>
      val idle = idleSince(before)
      val fixed = idle.getOrElse(before.fixedMs)
      Admission(
        limitedBefore(before).getOrElse(fixed),
        fixed,
        idle.getOrElse(before.endedMs),
        startMs,
        tookMs,
        before.limit.map(_.option),
        intervalMs
      )
    }

  /** When the last trigger in between found nothing new. Since then records wait for this one, and no limit had left any. */
  private def idleSince(before: Trigger): Option[Long] =
    if (before.limit.exists(_.isCertain)) None
    else intervalMs.map {
      case 0 => (startMs - PollMs - lookedMs, before.endedMs + before.tookMs / Finishing)
      case ms => (startMs - ms, before.endedMs)
    }.collect { case (idle, over) if idle > over => idle }

  /** What came after the one before had looked was not left by it. */
  private def limitedBefore(before: Trigger): Option[Long] =
    before.limitedSinceMs.filter(_ => idleSince(before).isEmpty && !cameMs.exists(_ > before.fixedMs))
}

object Trigger {

  /** How long Spark waits before it asks its sources again, where the trigger has no interval. */
  private val PollMs = 10L

  /** Which part of what a batch took Spark may need for what it does after its end, on a cold or busy driver: it is not told. */
  private val Finishing = 10

  /**
   * An option that left records behind.
   *
   * @param option    its name, `maxOffsetsPerTrigger` say
   * @param isCertain whether the source said that there are more, so that the next trigger finds them
   */
  final case class Limit(option: String, isCertain: Boolean)
}
