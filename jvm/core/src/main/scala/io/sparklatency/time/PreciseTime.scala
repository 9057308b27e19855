package io.sparklatency.time

import java.time.Instant

import scala.annotation.tailrec

/**
 * Two clocks of this process in microseconds, for comparing clocks. A reading costs some 60 ns; this is not for records.
 */
trait PreciseTime {

  /** The time of day, since the epoch. */
  def micros(): Long

  /** Since some moment. Nobody sets this clock. */
  def steadyMicros(): Long

  /**
   * Both of one moment. A thread that has to wait for a processor between two readings would take the wait for a clock that was set,
   * so it reads again. Of so many readings the two that lie closest together are taken.
   */
  final def both(): TwoReadings = {
    @tailrec def closest(best: TwoReadings, left: Int): TwoReadings =
      if (left == 0 || best.apart <= PreciseTime.ApartMicros) best
      else closest(Seq(best, read()).minBy(_.apart), left - 1)
    closest(read(), PreciseTime.Again)
  }

  private def read(): TwoReadings = {
    val before = steadyMicros()
    val now = micros()
    TwoReadings(now, before, steadyMicros() - before)
  }
}

private object PreciseTime {
  val Again = 7
  val ApartMicros = 20L
}

/**
 * The time of day, and a clock that nobody sets, at one moment. Immutable.
 *
 * @param apart how much time passed while the two were read
 */
final case class TwoReadings(micros: Long, steadyMicros: Long, apart: Long)

/** The operating system's, which Linux gives in microseconds or better. */
object SystemTime extends PreciseTime {
  override def micros(): Long = {
    val now = Instant.now()
    now.getEpochSecond * 1000000L + now.getNano / 1000
  }
  override def steadyMicros(): Long = System.nanoTime() / 1000
}
