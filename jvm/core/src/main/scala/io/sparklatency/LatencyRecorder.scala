package io.sparklatency

/**
 * Takes the latency of every record that passes one node in one task: count, minimum, maximum, sum and a histogram, all of
 * them on every record. One writer, no locks; 5 ns a record; 6 KB, and 36 where the longest latency is ten times the shortest.
 * {{{
 *   val recorder = new LatencyRecorder(WallClock)
 *   rows.foreach(row => recorder.record(row.timestampMicros))
 *   val summary = recorder.summary()
 * }}}
 * A writer that goes on for long publishes as it goes: whenever it reads the clock and `publishNanos` have passed, it hands what
 * came in since to `publish`, with the timestamp of the oldest of these records, and begins anew. Where no row comes for as long,
 * another thread may do it in its stead.
 *
 * @param reference where the results are committed later, at a time nobody knows yet: a time, in milliseconds, against which the
 *                  age of each record is taken too. The age at any other time differs from that by the time between
 */
final class LatencyRecorder(
    clock: Clock,
    publish: (LatencySummary, Option[Long]) => Unit = (_, _) => (),
    publishNanos: Long = LatencyRecorder.PublishMs * 1000 * 1000,
    reference: Option[Long] = None
) {
  private[this] val rowClock = new RowClock(clock, readAnew)
  private[this] val run = new LatencyRun
  private[this] val latencies = new LatencyTally
  private[this] val ages = reference.map(_ => new LatencyTally(LatencyRun.Bits))
  private[this] var readMs = 0L
  private[this] var withoutTimestamp = 0L
  private[this] var withoutAge = 0L
  private[this] var published = LatencySummary.empty
  private[this] var oldestMs = Long.MaxValue
  @volatile private[this] var publishedAtNanos = System.nanoTime()
  @volatile private[this] var readAtNanos = publishedAtNanos
  private[this] var seenAtNanos = 0L
  private[this] var servedAtNanos = 0L
  private[this] var isSealed = false

  /** Takes a record whose timestamp is `micros` microseconds after the epoch; before the epoch counts as none. */
  def record(micros: Long): Unit =
    if (micros < 0) recordWithoutTimestamp()
    else run.add(rowClock.millis() - micros / 1000)

  /** Reads the clock too, though it needs no time: a writer that does not would be taken for silent. */
  def recordWithoutTimestamp(): Unit = {
    rowClock.millis()
    withoutTimestamp += 1
    withoutAge += 1
  }

  /** What was recorded so far, published or not. Called by the writer, or after it. */
  def summary(): LatencySummary = synchronized(published + unpublished)

  /** What was recorded and not published. Called by the writer, or after it. */
  def unpublished: LatencySummary = {
    settle()
    latencies.summary(withoutTimestamp)
  }

  /**
   * The ages of all records at the time of reference, or if one of them is newer, when the clock was read last. Those are then
   * known to 1 % of the time between.
   */
  def agesOfAll: Option[Ages] = {
    settle()
    for (at <- reference; ages <- ages)
      yield
        if (ages.isSigned) Ages(readMs, ages.summary(withoutAge, readMs - at))
        else Ages(at, ages.summary(withoutAge))
  }

  /**
   * Called by another thread: publishes what the writer has left, if no row has come for so long that the next one will find
   * itself due to publish, and so will wait for this call to end before it writes.
   */
  def publishIfSilent(): Unit = synchronized {
    val at = readAtNanos
    // A pause of the whole process looks like silence, too, but not twice in a row.
    if (!isSealed && at == seenAtNanos && at != servedAtNanos && System.nanoTime() - at > publishNanos) {
      publishNow()
      servedAtNanos = at
    }
    seenAtNanos = at
  }

  /** The end: what was recorded in all, and what of it was not published. Nothing is published any more. */
  def seal(): (LatencySummary, LatencySummary) = synchronized {
    isSealed = true
    val rest = unpublished
    (published + rest, rest)
  }

  /** After half of the silence after which another thread may publish, the writer does so itself: the two never meet. */
  private def readAnew(nanos: Long, ms: Long): Unit =
    if (nanos - publishedAtNanos > publishNanos || nanos - readAtNanos > publishNanos / 2) synchronized {
      publishNow()
      readMs = ms
      readAtNanos = nanos
    }
    else {
      if (ms != readMs) settle()
      readMs = ms
      readAtNanos = nanos
    }

  private def settle(): Unit = {
    oldestMs = math.min(oldestMs, run.oldest(readMs))
    run.settle(latencies, ages, reference.fold(0L)(_ - readMs))
  }

  private def publishNow(): Unit = {
    publishedAtNanos = System.nanoTime()
    val part = unpublished
    if (!part.isEmpty) {
      published += part
      latencies.clear()
      withoutTimestamp = 0
      val oldest = Option.when(oldestMs < Long.MaxValue)(oldestMs)
      oldestMs = Long.MaxValue
      publish(part, oldest)
    }
  }
}

object LatencyRecorder {

  /** Twice a second, so that figures of a task without end are never older than one. */
  val PublishMs: Long = 500
}
