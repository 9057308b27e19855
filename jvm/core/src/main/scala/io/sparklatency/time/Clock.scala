package io.sparklatency.time

import java.util.concurrent.atomic.AtomicLong

/** The time of day, in milliseconds since the epoch. Whatever measures takes its clock from here, so that a test can set it. */
trait Clock extends PreciseTime {

  def millis(): Long

  /**
   * Whether every row must have a reading of its own. A clock that answers no may be read once for a run of rows, as long as
   * [[RowClock]] can tell that no time to speak of has passed between them.
   */
  def readEveryRow: Boolean

  /** The same in microseconds, as precisely as this clock tells. */
  override def micros(): Long = millis() * 1000

  /** For durations. */
  override def steadyMicros(): Long = micros()

  /** What this clock showed when the operating system's showed `systemMillis`, a moment ago. */
  def at(systemMillis: Long): Long = systemMillis
}

/** The operating system's clock: 25 to 40 ns a reading, which is why [[RowClock]] stands before it. */
object SystemClock extends Clock {
  override def millis(): Long = System.currentTimeMillis()
  override def micros(): Long = SystemTime.micros()
  override def steadyMicros(): Long = SystemTime.steadyMicros()
  override def readEveryRow: Boolean = false
}

/** A clock that stands still until it is told otherwise, in any direction, by any thread. */
final class ManualClock(start: Long) extends Clock {
  private val now = new AtomicLong(start)
  private val beyond = new AtomicLong // microseconds

  override def millis(): Long = now.get
  override def readEveryRow: Boolean = true
  override def at(systemMillis: Long): Long = now.get
  override def micros(): Long = now.get * 1000 + beyond.get
  def set(millis: Long): Unit = { now.set(millis); beyond.set(0) }
  def setMicros(micros: Long): Unit = {
    set(Math.floorDiv(micros, 1000L)); beyond.set(Math.floorMod(micros, 1000L))
  }
  def advance(millis: Long): Unit = now.addAndGet(millis): Unit
}

/**
 * The clock of this process. Only tests replace it. On an executor whose own clock is known to be off it shows the time of the driver's,
 * so what executors measure can be compared. It then goes on by the clock that nobody sets: when the operating system's is put right,
 * it shows the driver's time also until the two are compared again.
 */
object WallClock extends Clock {
  @volatile private var clock: Clock = SystemClock
  @volatile private var correction = Correction.None

  override def millis(): Long =
    if (correction.of eq ClockCorrection.None) clock.millis() else Math.floorDiv(micros(), 1000L)
  override def micros(): Long = {
    val corrected = correction // it may change meanwhile
    if (corrected.of eq ClockCorrection.None) clock.micros() else corrected.micros(clock.steadyMicros())
  }
  override def steadyMicros(): Long = clock.steadyMicros()
  override def readEveryRow: Boolean = clock.readEveryRow
  override def at(systemMillis: Long): Long = clock.at(systemMillis)

  /**
   * So far is the operating system's clock ahead of the driver's now. It goes on to part from it until the next call.
   */
  def correctBy(now: ClockCorrection): Unit =
    correction = if (now.micros == 0) Correction.None else Correction(now, clock.both())

  def install(other: Clock): Unit = clock = other
  def reset(): Unit = { clock = SystemClock; correction = Correction.None }

  /** @param since when it was right */
  private final case class Correction(of: ClockCorrection, since: TwoReadings) {
    def micros(steadyMicros: Long): Long = {
      val later = steadyMicros - since.steadyMicros
      since.micros + later - of.after(later)
    }
  }

  private object Correction {
    val None: Correction = Correction(ClockCorrection.None, TwoReadings(0, 0, 0))
  }
}
