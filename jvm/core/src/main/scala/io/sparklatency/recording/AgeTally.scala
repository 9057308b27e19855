package io.sparklatency.recording

/**
 * Adds up how old records are at a time of reference. That is as old as they were when the clock was read for them, and the time from then
 * on. One writer, and nobody asks before it has ended.
 */
private[recording] final class AgeTally(atMs: Long) {
  private[this] val ages = new LatencyTally(AgeTally.Bits)

  /** One record. The histogram takes one that is ahead of the clock to have been at its time. */
  def add(timestampMs: Long, readMs: Long): Unit = {
    addToHistogram(math.max(readMs - timestampMs, 0), 1, readMs)
    ages.addOne(atMs - timestampMs, isAheadOfClock = readMs < timestampMs)
  }

  /** So many records that were about so old. */
  def addToHistogram(ms: Long, records: Long, readMs: Long): Unit = ages.add(ms + atMs - readMs, records)

  /** To all else than the histogram: records of which none was ahead of the clock. */
  def add(min: Long, max: Long, sum: BigInt, records: Long, readMs: Long): Unit = {
    val later = atMs - readMs
    ages.add(min + later, max + later, sum + BigInt(later) * records, 0)
  }

  def addWithoutTimestamp(records: Long): Unit = ages.addWithoutTimestamp(records)

  /** At the time of reference, or if a record is newer than that, at that of the last reading. */
  def result(lastReadMs: Long): Ages =
    if (ages.isSigned) Ages(lastReadMs, ages.summary(lastReadMs - atMs)) else Ages(atMs, ages.summary())
}

private[recording] object AgeTally {

  /** Four times as fine as a summary's: values that are shifted twice and rounded to one are then still within 1 %. */
  final val Bits = 9
}
