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
 * @param limitedSinceMs since when the query could have read what a limit has left behind
 * @param cameMs         when the first of the files that it read had come, by the clock of their file system, of a query that reads files
 * @param isNewestFirst  whether it read those that came last before others
 * @param keeping        what keeps records at a source until there are more of them
 * @param fromFirst      whether a limit has left records behind since the first of the run
 * @param isAgain        whether it did again what an earlier run had begun: it read up to where that had, and asked no source for more
 */
final case class Trigger(
    startMs: Long,
    lookedMs: Long,
    tookMs: Long,
    limit: Option[Trigger.Limit] = None,
    intervalMs: Option[Long] = None,
    limitedSinceMs: Option[Long] = None,
    cameMs: Option[Long] = None,
    isNewestFirst: Boolean = false,
    keeping: Option[Trigger.Keeping] = None,
    fromFirst: Boolean = false,
    isAgain: Boolean = false
) {
  import Trigger._

  private def fixedMs: Long = startMs + lookedMs
  private def endedMs: Long = startMs + tookMs
  private def hasLeftSome: Boolean = limit.exists(_.isCertain)

  /** This trigger, which knows since when there is a limit. New files that it has read before others leave those where they were. */
  def after(before: Option[Trigger]): Trigger = {
    val since = before.flatMap(before => if (isNewestFirst) leftBy(before) else limitedBefore(before))
    copy(
      // What this one has left had come since the one before had looked, as what it has read: it waited for that one, too.
      limitedSinceMs = Option.when(limit.nonEmpty || isAgain)(
        since.getOrElse(before.fold(fixedMs)(before => admission(Some(before)).sinceMs))
      ),
      fromFirst = before.forall(_.fromFirst && since.nonEmpty)
    )
  }

  /** This trigger, where the next one has shown that its limit had left nothing. */
  def leavingNothing: Trigger = copy(limit = None, limitedSinceMs = limitedSinceMs.filter(_ => isAgain))

  /** What held back the records that it read. */
  def admission(before: Option[Trigger]): Admission =
    before.fold(Admission.first(startMs, tookMs)) { before =>
      val idle = idleSince(before)
      val fixed = idle.getOrElse(before.fixedMs)
      // A source that waits for more records says, too, that there is nothing new. What it keeps has come since it last gave all.
      val kept = for (looked <- idle; source <- keeping) yield before.fixedMs.max(looked - source.mostMs)
      val limited = limitedBefore(before)
      Admission(
        limited.orElse(kept).getOrElse(fixed),
        fixed,
        idle.getOrElse(before.endedMs),
        startMs,
        tookMs,
        keeping.filter(_ => kept.nonEmpty).map(_.option).orElse(before.limit.map(_.option)),
        intervalMs,
        limited.exists(_ => before.fromFirst)
      )
    }

  /** When the last trigger in between found nothing new, or too few. Since then records wait for this one. */
  private def idleSince(before: Trigger): Option[Long] =
    if (before.hasLeftSome && keeping.isEmpty) None
    else intervalMs.map {
      case 0 => (startMs - PollMs - lookedMs, before.endedMs + (before.tookMs / Finishing).min(FinishingMs))
      case ms => (startMs - ms, before.endedMs)
    }.collect { case (idle, over) if idle > over => idle }

  /** Since when a limit has left behind what it read. What came after the one before had looked was not left by it. */
  private def limitedBefore(before: Trigger): Option[Long] =
    leftBy(before).filter(_ => before.hasLeftSome || !cameMs.exists(_ > before.fixedMs))

  /** Since when a limit has left anything behind, where the last trigger found something. */
  private def leftBy(before: Trigger): Option[Long] =
    before.limitedSinceMs.filter(_ => before.hasLeftSome || idleSince(before).isEmpty)
}

object Trigger {

  /**
   * One that found nothing, before the first batch of its run.
   *
   * @param keeping what may have kept what there was; Kafka keeps nothing when it is first asked
   */
  def ofNothing(startMs: Long, keeping: Option[Keeping]): Trigger = {
    val kept = keeping.map(_.option).filterNot(_ == Admission.MinOffsets)
    Trigger(startMs, 0, 0, kept.map(Limit(_, isCertain = true))).after(None)
  }

  /** How long Spark waits before it asks its sources again, where the trigger has no interval. */
  private val PollMs = 10L

  /** Which part of what a batch took Spark may need for what it does after its end, on a cold or busy driver: it is not told. */
  private val Finishing = 10

  /** And how long at the most. */
  private val FinishingMs = 1000L

  /**
   * An option that left records behind.
   *
   * @param option    its name, `maxOffsetsPerTrigger` say
   * @param isCertain whether the source said that there are more: no trigger finds nothing before they are read, unless a source waits for
   *                  more of them
   */
  final case class Limit(option: String, isCertain: Boolean)

  /**
   * An option by which a source keeps records until there are more of them.
   *
   * @param option its name, one of those that [[Admission.waitsForMore]] knows
   * @param mostMs for how long it may
   */
  final case class Keeping(option: String, mostMs: Long)
}
