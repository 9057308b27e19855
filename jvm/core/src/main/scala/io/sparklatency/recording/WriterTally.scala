package io.sparklatency.recording

import java.lang.Long.highestOneBit
import java.lang.invoke.VarHandle
import java.util.Arrays

import io.sparklatency.time.Clock
import io.sparklatency.time.RowClock

/**
 * The records that one thread, the writer, has taken and not handed over yet, together with the clock that it reads: all that a
 * row touches lies in one object.
 *
 * '''Cells.''' Nearly all rows of a task are about as old as those before. For each millisecond of such ages there is a cell, and a
 * row is one more in its cell: number, minimum, maximum, sum and histogram are read off the cells when they are
 * [[sweep swept]]. One comparison sends all other rows the long way: those ahead of the clock, outside of the cells, or older than
 * any before.
 *
 * '''How many.''' None at first: a task of few rows does without. When so many rows have been outside that making the cells
 * and sweeping them costs each of these next to nothing, they are laid out round the ages that were seen. At most 64 KB.
 *
 * '''Ages at a time of reference.''' While the clock's reading stands, a record's age at any other time is its latency and a
 * difference that is the same for all. So where such ages are wanted, the cells are also swept when the clock shows another time. The ages
 * are the writer's alone.
 *
 * '''Who reads.''' Any other thread may [[copyIfQuiet copy]] what is here, and nothing else. A cell only grows between two sweeps, so
 * what is in a copy is here as well, whatever the writer does meanwhile. On processors that reorder writes a copy may lack a row
 * whose number was seen; it counts with those that follow.
 */
private[recording] abstract class WriterTally(clock: Clock, readEveryRow: Boolean, reference: Option[Long])
    extends RowClock(clock, readEveryRow) {
  import WriterTally._

  // The place of an age is its distance from the age of the first cell, counted from a Long's lowest number on: so one comparison
  // of Longs finds those that are below 0 or too high.
  private[this] var zero = 0L // the place of the timestamp 0 by the present reading
  private[this] var limit = Long.MinValue // the first place that is not to be used
  private[this] var cells = Array.emptyIntArray
  private[this] var withoutTimestamp = 0L

  // What follows is for rows that take the long way. The writer numbers them: the last that it began, the last that has ended.
  private[this] var begun = 0L
  private[this] var ended = 0L
  private[this] val tally = new HeldTally
  private[this] val ages = reference.map(new AgeTally(_))
  private[this] var first = 0L // the age of the first cell
  private[this] var used = 0 // no cell from this one on has been used since they were swept
  private[this] var outside = 0L // rows, since the cells were laid out
  private[this] var sweptAt = 0L // so many rows had gone the short way

  /** Takes a record as nearly all are. */
  final protected def tryAdd(micros: Long): Boolean = {
    val place = zero - micros / 1000
    if (nextIsStale() || place >= limit) false
    else {
      cells(place.toInt) += 1
      true
    }
  }

  /** The same for one without a timestamp. */
  final protected def tryAddWithoutTimestamp(): Boolean =
    if (nextIsStale()) false
    else {
      withoutTimestamp += 1
      true
    }

  /** Before anything is done for a row that takes the long way. */
  final protected def beginLongWay(): Unit = {
    begun += 1
    VarHandle.storeStoreFence()
  }

  /** After everything that is done for it. */
  final protected def endLongWay(): Unit = {
    VarHandle.storeStoreFence()
    ended = begun
  }

  /** Takes any record: the long way. */
  final protected def add(micros: Long): Unit =
    if (micros < 0) withoutTimestamp += 1
    else {
      val timestamp = micros / 1000
      val age = reading - timestamp
      val isOldest = timestamp < tally.oldest
      tally.add(timestamp, age)
      ages.foreach(_.add(timestamp, reading))
      if (age < first || age - first >= cells.length) {
        outside += 1
        if (outside >= enoughOutside) layOut(age)
      }
      if (isOldest) aim()
    }

  /** Before the reading is another: what is in the cells was measured by the one that stands. */
  final override protected def now(): Long = {
    val next = super.now()
    if (ages.nonEmpty && next != reading) sweep()
    next
  }

  /** To be called after each reading of the clock. */
  final protected def aim(): Unit = {
    if (onShortWay - sweptAt > MostRows) sweep()
    // 1, for at the beginning of the epoch, too, a record without a timestamp, which has one below 0, must look older than any.
    val oldest = math.max(tally.oldest, 1)
    val usable = if (oldest > reading) 0 else (reading - oldest - first + 1).min(cells.length.toLong).max(0)
    zero = reading - first + Long.MinValue
    limit = usable + Long.MinValue
    used = math.max(used, usable.toInt)
  }

  /** Hands over all there is, to be used before the next record, and begins anew. */
  final protected def take(copy: Option[HeldTally])(use: HeldTally => Unit): Unit = {
    sweep()
    copy.foreach(tally.remove)
    use(tally)
    tally.clear()
  }

  /** Of all rows, once they are swept. */
  final protected def agesAtReference: Option[Ages] = ages.map(_.result(reading))

  /**
   * For another thread, under a lock that the writer takes before it takes anything away: all rows up to `last`, if no other has
   * begun, and none is on the long way.
   */
  final protected def copyIfQuiet(last: Long): Option[HeldTally] = {
    val lastEnded = ended
    VarHandle.acquireFence()
    val copy = tally.copy()
    val (lowest, counts, end, without) = (first, cells.clone, used, withoutTimestamp)
    VarHandle.acquireFence()
    Option.when(begun == lastEnded && row == last) {
      copy.add(lowest, counts, end)
      copy.addWithoutTimestamp(without)
      copy
    }
  }

  /** From the cells to where all else is. */
  private def sweep(): Unit = {
    if (onShortWay != sweptAt) {
      tally.add(first, cells, used, ages, reading)
      Arrays.fill(cells, 0, used, 0)
      used = (limit - Long.MinValue).toInt // what is aimed at stays so until the next reading
      sweptAt = onShortWay
    }
    tally.addWithoutTimestamp(withoutTimestamp)
    ages.foreach(_.addWithoutTimestamp(withoutTimestamp))
    withoutTimestamp = 0
  }

  /** How many rows did not take the long way: those in cells, and some without a timestamp. */
  private def onShortWay: Long = row - begun

  /** So many rows outside pay for other cells. Cells become more soon; when they are the most, others can only be elsewhere. */
  private def enoughOutside: Long =
    if (cells.length < MostCells) FewestOutside.max(cells.length / 8) else MostCells / 2

  /** Makes cells for the ages that were seen and half as many on either side, or for those round `age` where these are too many. */
  private def layOut(age: Long): Unit = {
    sweep()
    val most = highestOneBit((outside * CellsPerRow).min(MostCells))
    val (lowest, highest) = tally.range
    val span = highest - lowest.max(0)
    val (length, middle) =
      if (span >= most) (most, age)
      else ((2 * highestOneBit(span * 2 + FewestCells)).min(most), lowest.max(0) + span / 2)
    first = (middle - length / 2).max(0)
    cells = new Array[Int](length.toInt)
    used = 0
    outside = 0
    aim()
  }
}

private[recording] object WriterTally {
  private val FewestCells = 128L
  private val MostCells = 1L << 14

  /** How many rows outside of the cells there are at least before they are laid out anew, and how many cells for each of these. */
  private val FewestOutside = 64
  private val CellsPerRow = 16

  /** So that no cell overflows. */
  private val MostRows = 1L << 30
}
