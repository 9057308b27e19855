package io.sparklatency.recording

import java.lang.invoke.MethodHandle
import java.lang.invoke.MethodHandles
import java.lang.invoke.MethodType

import io.sparklatency.time.Clock

/**
 * Takes the latency of every record that passes one node in one task: count, minimum, maximum, sum and a histogram, all of
 * them on every record. One writer; 2 to 3 ns a record as a rule; 1 KB where their ages lie close together, else up to 120.
 * {{{
 *   val recorder = new LatencyRecorder(WallClock)
 *   rows.foreach(row => recorder.record(row.timestampMicros))
 *   val summary = recorder.summary()
 * }}}
 * A writer that goes on for long publishes as it goes: whenever it reads the clock and `publishNanos` have passed, it hands what
 * came in since to `publish`, with the timestamp of the oldest of these records, and begins anew. Either clock tells that: the time
 * of day, or `System.nanoTime`, which stands still while a machine is suspended. Where no row comes for as long, another thread,
 * the poller, does it in its stead. Each record is published once, whatever the two do at the same time.
 *
 * '''Who writes what.''' The writer alone writes what it has not handed over yet, and numbers its rows: see [[WriterTally]]. All
 * else is written under the lock of this object: by the writer when it hands over, which it does when it is due to publish, and
 * when the poller has published; by the poller when it publishes.
 *
 * '''Why the writer does not wait.''' A row as nearly all are takes no lock and has no fence. The writer takes the lock only to hand
 * over, and waits only if the poller is publishing right then.
 *
 * '''What the poller sees.''' It cannot stop the writer, so it takes nothing away from it: it copies what the writer has, as a reader
 * of a `StampedLock` does who hopes that nobody writes. A copy is dropped if a row has begun meanwhile. All that is older it finds by
 * the lock, whose last holder wrote it.
 *
 * '''What happens when they meet.''' The poller publishes its copy and leaves it in `taken`, under the lock. The writer may go on
 * meanwhile. When it next takes the lock, which a copy that it finds there makes it do at its next reading, it first takes the copy
 * away from what it has; what remains are the rows that came after it. Counts, sum and histogram are exact, because they are
 * differences. The minimum, the maximum and the oldest of what remains may be the copy's. Those of the whole are exact all the same.
 *
 * @param publish      is called with the lock held
 * @param reference    where the results are committed later, at a time nobody knows yet: a time, in milliseconds, against which the
 *                     age of each record is taken too. The age at any other time differs from that by the time between
 * @param readEveryRow whether each row has a reading of its own: see `RowClock`
 */
final class LatencyRecorder(
    clock: Clock,
    publish: (LatencySummary, Option[Long]) => Unit = (_, _) => (),
    publishNanos: Long = LatencyRecorder.PublishMs * 1000 * 1000,
    reference: Option[Long] = None,
    readEveryRow: Boolean = false
) extends WriterTally(clock, readEveryRow, reference) {

  /** Of the instance, for the JIT compiler would see through a constant: see [[LatencyRecorder.LongWay]]. */
  private[this] val longWay: MethodHandle = LatencyRecorder.LongWay

  // Written under the lock. What the writer reads without it is either its own or volatile.
  private[this] val latencies = new LatencyTally
  private[this] var oldestMs = Long.MaxValue
  private[this] var published = LatencySummary.empty
  private[this] var seen = 0L // the poller's
  private[this] var isSealed = false
  @volatile private[this] var taken = Option.empty[HeldTally]
  @volatile private[this] var publishedAtNanos = System.nanoTime()
  // No shorter span shows on a clock of milliseconds.
  private[this] val publishMs = if (publishNanos < 1000000) Long.MaxValue else publishNanos / 1000000
  private[this] var publishedAtMs = 0L // by the writer

  /** Takes a record whose timestamp is `micros` microseconds after the epoch; before the epoch counts as none. */
  def record(micros: Long): Unit = if (!tryAdd(micros)) (longWay.invokeExact(this, micros): Unit)

  def recordWithoutTimestamp(): Unit = if (!tryAddWithoutTimestamp()) (longWay.invokeExact(this, -1L): Unit)

  /** How many rows have come, for any thread: it may be a moment old. */
  def rows: Long = row

  /** What was recorded so far, published or not. Called by the writer, or after it. */
  def summary(): LatencySummary = synchronized(published + unpublished)

  /** What was recorded and not published. Called by the writer, or after it. */
  def unpublished: LatencySummary = synchronized {
    settle()
    latencies.summary()
  }

  /**
   * The ages of all records at the time of reference, or if one of them is newer, when the clock was read last. Those are then
   * known to 1 % of the time between. Called by the writer, or after it.
   */
  def agesOfAll: Option[Ages] = synchronized {
    settle()
    agesAtReference
  }

  /**
   * Called by the poller, again and again: publishes what the writer has left, if it is due and no row has come since the last call.
   * Where one comes right now, it is left for the next call, or for the writer.
   */
  def publishIfSilent(): Unit = synchronized {
    val last = row
    if (last == seen && taken.isEmpty && !isSealed && isDue(System.nanoTime())) {
      taken = copyIfQuiet(last)
      taken.foreach(keep)
      if (taken.nonEmpty) publishNow()
    }
    seen = last
  }

  /** The end: what was recorded in all, and what of it was not published. Nothing is published any more. */
  def seal(): (LatencySummary, LatencySummary) = synchronized {
    isSealed = true
    val rest = unpublished
    (published + rest, rest)
  }

  /** Whatever is not simple. */
  private[recording] def takeLongWay(micros: Long): Unit = {
    beginLongWay()
    if (isStale) readAnew()
    // Only what the clock itself says is ahead of it is.
    if (reading < micros / 1000 && !isJustAsked) {
      doubtReading()
      readAnew()
    }
    add(micros)
    endLongWay()
  }

  private def readAnew(): Unit = {
    read()
    val isTime = isDue(readAtNanos) || reading - publishedAtMs > publishMs
    if (isTime || taken.nonEmpty) synchronized {
      settle()
      // A thread beside the task's may go on behind its end.
      if (isTime && !isSealed) {
        publishedAtMs = reading
        publishNow()
      }
    }
    aim()
  }

  private def isDue(nanos: Long): Boolean = nanos - publishedAtNanos > publishNanos

  /** By the writer, under the lock. */
  private def settle(): Unit = {
    take(taken)(keep)
    taken = None
  }

  /** Under the lock. */
  private def keep(records: HeldTally): Unit = {
    oldestMs = math.min(oldestMs, records.oldest)
    records.addTo(latencies)
  }

  /** Under the lock. */
  private def publishNow(): Unit = {
    publishedAtNanos = System.nanoTime()
    val part = latencies.summary()
    if (!part.isEmpty) {
      published += part
      latencies.clear()
      val oldest = Option.when(oldestMs < Long.MaxValue)(oldestMs)
      oldestMs = Long.MaxValue
      publish(part, oldest)
    }
  }
}

object LatencyRecorder {

  /** Twice a second, so that figures of a task without end are never older than one. */
  val PublishMs: Long = 500

  /**
   * How [[LatencyRecorder.record]] calls `takeLongWay`, one row in 512. Called by its name it would become part of `record` when that
   * is compiled, with all that it calls in turn. Then `record` is too big to become part of the loop over the rows, or ten of
   * them are: several times the time a row. What is called by a handle that is no constant is left where it is.
   */
  private val LongWay: MethodHandle = MethodHandles.lookup
    .findVirtual(
      classOf[LatencyRecorder],
      "takeLongWay",
      MethodType.methodType(Void.TYPE, java.lang.Long.TYPE)
    )
}
