package io.sparklatency.time

/**
 * How long a source has been silent, as far as somebody has looked. Only time between two looks counts, and only if the second
 * one finds nothing: nobody knows what came after the last look. So a long batch makes no source idle whose records wait.
 * Time that ends with a look which could not tell counts for nothing.
 *
 * One thread; costs an addition a look.
 *
 * @param timeoutMicros how long a source is silent before it is idle
 */
final class Silence(timeoutMicros: Long) {
  require(timeoutMicros > 0, s"a timeout is positive, not $timeoutMicros us")

  private var lookedMicros: Option[Long] = None
  private var silentMicros = 0L
  private var spokeMs = 0L

  /**
   * @param atMicros of a clock that nobody sets
   * @param atMs     the time of day, for [[idleSinceMs]]
   * @param found    whether there was a record; none if that cannot be told
   */
  def look(atMicros: Long, atMs: Long, found: Option[Boolean]): Unit = {
    if (lookedMicros.isEmpty || found.contains(true)) {
      silentMicros = 0
      spokeMs = atMs
    } else if (found.contains(false))
      silentMicros += lookedMicros.fold(0L)(before => (atMicros - before).max(0))
    lookedMicros = Some(atMicros)
  }

  /** When the last record was found, or the first look was taken. None if that is not long ago. */
  def idleSinceMs: Option[Long] = Option.when(silentMicros >= timeoutMicros)(spokeMs)
}
