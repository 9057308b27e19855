package io.sparklatency.answer

import io.sparklatency.figures.ExecutorClock
import io.sparklatency.figures.Figure.Mean
import io.sparklatency.figures.Figure.Whole

/** Executors whose clock is known to differ from the driver's: by more than the doubt about it. */
object ClockNote {

  /** Beyond the bound, more milliseconds than these are to be put right. */
  val FarMs = 50.0

  def isOff(clock: ExecutorClock): Boolean = clock.offset.certainMs > 0
  def isFar(clock: ExecutorClock): Boolean = clock.offset.certainMs > FarMs

  /** What is said of one clock. */
  def text(clock: ExecutorClock): String = {
    val (ms, side) = (clock.offset.ms, if (clock.offset.micros < 0) "behind" else "ahead of")
    s"The clock of executor ${Readable.name(clock.executor)} is ${Readable.duration(ms.abs)} $side the driver's " +
      s"(± ${bound(clock)}): latencies are corrected by that."
  }

  /** One note, of the clock that is furthest off. */
  private[answer] def of(clocks: Seq[ExecutorClock]): Option[Note] = {
    val off = clocks.filter(isOff)
    off.maxByOption(_.offset.certainMs).map { furthest =>
      val others = off.size - 1L
      val more =
        if (others == 0) ""
        else
          s" ${Readable.counted(others, "other clock is", "other clocks are")} off by less."
      Note(
        "clock-offset",
        if (isFar(furthest)) Note.Warn else Note.Info,
        text(furthest) + more,
        numbers = Seq(
          "offsetMs" -> Mean(furthest.offset.ms),
          "boundMs" -> Mean(furthest.offset.boundMs),
          "executors" -> Whole(off.size.toLong)
        )
      )
    }
  }

  /** Rounded to a tenth, it may not read as none. */
  private def bound(clock: ExecutorClock): String =
    if (clock.offset.boundMs < 0.05) "< 0.1 ms" else Readable.duration(clock.offset.boundMs)
}
