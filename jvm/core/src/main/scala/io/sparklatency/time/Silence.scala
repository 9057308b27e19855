package io.sparklatency.time

/**
 * How long a source has been silent, as far as somebody has looked. Only time between two looks counts, and only if the second
 * one finds nothing: nobody knows what came after the last look. So a long batch makes no source idle whose records wait.
 * Time that ends with a look which could not tell counts for nothing.
 *
 * Of the time in which the looker was busy after a look only a [[Silence.BusyPart]]th of the timeout counts. One long batch makes nobody
 * idle then, for what kept the batch may have kept the source. A query that is always busy finds a source idle after some batches.
 *
 * One thread; costs an addition a look.
 *
 * @param timeoutMicros how long a source is silent before it is idle
 */
final class Silence(timeoutMicros: Long) {
  require(timeoutMicros > 0, s"a timeout is positive, not $timeoutMicros us")

  private var lookedMicros: Option[Long] = None
  private var restedMicros = 0L
  private var silentMicros = 0L
  private var spokeMs = 0L

  /**
   * @param atMicros of a clock that nobody sets
   * @param atMs     the time of day, for [[idleSinceMs]]
   * @param found    whether there was a record; none if that cannot be told
   * @param untilMicros when what came of the look was over
   */
  def look(atMicros: Long, atMs: Long, found: Option[Boolean], untilMicros: Long): Unit = {
    if (lookedMicros.isEmpty || found.contains(true)) {
      silentMicros = 0
      spokeMs = atMs
    } else if (found.contains(false))
      silentMicros += lookedMicros.fold(0L)(silentSince(_, atMicros))
    lookedMicros = Some(atMicros)
    restedMicros = untilMicros.max(atMicros)
  }

  private def silentSince(looked: Long, atMicros: Long): Long = {
    val busy = (restedMicros.min(atMicros) - looked).max(0)
    busy.min(timeoutMicros / Silence.BusyPart) + (atMicros - restedMicros).max(0)
  }

  /** When the last record was found, or the first look was taken. None if that is not long ago. */
  def idleSinceMs: Option[Long] = Option.when(silentMicros >= timeoutMicros)(spokeMs)
}

object Silence {
  private val BusyPart = 10
}
