package io.sparklatency.recording

import java.lang.invoke.VarHandle

import io.sparklatency.time.Clock
import io.sparklatency.time.RowClock

/**
 * The records that one thread, the writer, has taken since the clock showed another time, together with the clock that it reads:
 * all that a row touches lies in one object. 2 KB at first, 16 KB where the longest latencies are ten times the shortest.
 *
 * The writer numbers its rows: [[row]] is the last that it began, [[ended]] the last that it has done with. Any other thread may
 * [[copyIfQuiet copy]] what is here, and nothing else.
 *
 * What a row as nearly all are passes through is small enough to become part of the loop that calls it, and makes few checks.
 * [[tryAdd]] does not look for an overflow: [[guardSum]] does, at each reading of the clock.
 */
private[recording] abstract class WriterTally(clock: Clock, readEveryRow: Boolean)
    extends RowClock(clock, readEveryRow) {
  import WriterTally._

  private[this] val buckets = new BucketCounts
  private[this] var places = Array.emptyLongArray // the counts of the buckets
  private[this] var first = 0 // the bucket of the first place
  private[this] var min = Long.MaxValue
  private[this] var max = Long.MinValue
  private[this] var sum = 0L
  private[this] var otherSum = BigInt(0) // what `sum` does not hold
  private[this] var aheadOfClock = 0L
  private[this] var withoutTimestamp = 0L
  private[this] var lastEnded = 0L

  /** Before anything is done for a row. Tells whether the clock is to be read for it. */
  final protected def beginRow(): Boolean = {
    val isStale = nextIsStale()
    VarHandle.storeStoreFence() // who sees anything of what follows sees the number of the row, too
    isStale
  }

  /** After everything that is done for a row. */
  final protected def endRow(): Unit = {
    VarHandle.storeStoreFence() // who sees the number sees all of the row
    lastEnded = row
  }

  /** Takes a record as nearly all are: it has a timestamp, which is not ahead of the clock, and is about as old as those before. */
  final protected def tryAdd(micros: Long): Boolean = {
    val ms = reading - micros / 1000
    val place = BucketLayout.bucketOf(ms, InstantTally.Bits) - first
    val counts = places
    if ((micros | ms) >= 0 && place >= 0 && place < counts.length) {
      counts(place) += 1
      sum += ms
      if (ms < min) min = ms
      if (ms > max) max = ms
      true
    } else false
  }

  /** Takes any record that has a timestamp, and makes places for more that are as old. */
  final protected def add(micros: Long): Unit = {
    val ms = reading - micros / 1000
    otherSum += ms
    if (ms < 0) aheadOfClock += 1
    min = math.min(min, ms)
    max = math.max(max, ms)
    buckets.add(InstantTally.bucketOf(ms), 1)
    first = buckets.lowest
    places = buckets.room
    guardSum()
  }

  final protected def addWithoutTimestamp(): Unit = withoutTimestamp += 1

  /** To be called after each reading of the clock. A record is no older than the reading, so no sum overflows until the next. */
  final protected def guardSum(): Unit = {
    if (sum > SumLimit) {
      otherSum += sum
      sum = 0
    }
    if (reading > LongestMs) places = Array.emptyLongArray
  }

  /** Hands over all there is, to be used before the next record, and begins anew. */
  final protected def take(use: InstantTally => Unit): Unit = {
    use(new InstantTally(min, max, otherSum + sum, aheadOfClock, withoutTimestamp, buckets))
    if (min <= max) buckets.clear(InstantTally.bucketOf(min), InstantTally.bucketOf(max))
    min = Long.MaxValue
    max = Long.MinValue
    sum = 0
    otherSum = 0
    aheadOfClock = 0
    withoutTimestamp = 0
  }

  /**
   * Takes an earlier copy away. What remains is exact but for its minimum and maximum: where it is not nothing, those are the
   * copy's as well.
   */
  final protected def remove(copy: InstantTally): Unit = {
    copy.foreach((bucket, count) => buckets.add(bucket, -count))
    otherSum -= copy.sum
    aheadOfClock -= copy.aheadOfClock
    withoutTimestamp -= copy.withoutTimestamp
    if (buckets.areEmpty(InstantTally.bucketOf(min), InstantTally.bucketOf(max))) {
      min = Long.MaxValue
      max = Long.MinValue
    }
  }

  /** The number of the last row that is done with. */
  final protected def ended: Long = lastEnded

  /** For another thread: the rows up to `last`, which it has found to be the last that [[ended]], if no other has begun. */
  final protected def copyIfQuiet(last: Long): Option[InstantTally] = {
    VarHandle.acquireFence()
    val copy = new InstantTally(min, max, otherSum + sum, aheadOfClock, withoutTimestamp, buckets.copy())
    VarHandle.acquireFence()
    Option.when(row == last)(copy)
  }
}

private[recording] object WriterTally {

  /** Where the clock shows more, 285,000 years, nothing is usual. */
  private val LongestMs = 1L << 53

  /** With as many of these as come between two readings it is still a Long. */
  private val SumLimit = Long.MaxValue - RowClock.LongestRun * LongestMs
}
