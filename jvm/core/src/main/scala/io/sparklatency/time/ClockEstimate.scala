package io.sparklatency.time

/**
 * The offset of an executor's clock, from the last [[ClockEstimate.Window]] exchanges with it.
 *
 * The bound is certain, not likely, as long as no clock is put right faster than [[ClockEstimate.MaxDriftPpm]]: each
 * exchange gives an interval that the offset lies in, an interval grows with its age by that rate, and the offset lies
 * in all of them. Within what they leave, [[ClockLine]]
 * says where: the clock is taken to part from ours at one rate, and the offset is half-way between the quickest
 * question and the quickest answer. Those two are rarely of one exchange, and a single exchange is off by as much as
 * one of its messages was slower than the other.
 *
 * Where a clock was set since the last exchange, everything before is forgotten but the rate, which no setting
 * changes. Either side has a clock beside it that nobody sets. So a step shows at the next exchange if it is more than a
 * tenth of a millisecond, and a millisecond more for each second since the last one.
 *
 * Immutable. Adding costs a pass over the window. The first that asks after it pays for the rate, a look at each pair
 * of exchanges (some tens of microseconds), and each that asks a pass over the window.
 *
 * @param window  oldest first; all agree
 * @param earlier the rate before all was forgotten
 */
final class ClockEstimate private (window: Vector[ClockExchange], earlier: Option[ClockRate]) {
  import ClockEstimate._

  private lazy val line: ClockLine = ClockLine.of(window, earlier)

  /** The next exchange. They come in order. */
  def add(exchange: ClockExchange): ClockEstimate = exchange.interval match {
    case None => new ClockEstimate(Vector.empty, rate) // A clock was set between question and answer.
    case Some(_) =>
      val longer = window.takeRight(Window - 1) :+ exchange
      val isSet = window.lastOption.exists(exchange.isSetSince) || certain(longer, exchange.at).isEmpty
      if (isSet) new ClockEstimate(Vector(exchange), rate) else new ClockEstimate(longer, earlier)
  }

  /** @param now by the clock of [[ClockExchange.at]] */
  def at(now: Long): Option[ClockOffset] = certain(window, now).map { interval =>
    val micros = math.min(interval.high, math.max(interval.low, line.at(now)))
    ClockOffset(micros, math.max(interval.high - micros, micros - interval.low))
  }

  /**
   * What the executor takes off its clock from now on. Whether it does goes by what was known when clocks were last compared: by the
   * doubt that has grown since then its clock would go back and forth with each interval.
   */
  def correction(now: Long): Option[ClockCorrection] = for {
    last <- window.lastOption
    compared <- at(last.at)
    offset <- at(now)
  } yield
    if (compared.correction == 0) ClockCorrection.None
    else ClockCorrection(offset.micros, line.rate.perSecond)

  /** How fast the clock parts from ours. */
  private def rate: Option[ClockRate] = if (window.isEmpty) earlier else Some(line.rate)
}

object ClockEstimate {

  /** As many exchanges count. */
  val Window = 64

  /**
   * How fast two clocks part at the most: a kernel that puts a clock right moves it by up to 500 ppm, and each of the two may
   * be put right. A quartz itself drifts by less than 50.
   */
  val MaxDriftPpm = 1000L

  /** Of a clock that nothing is known of. */
  val Empty: ClockEstimate = new ClockEstimate(Vector.empty, None)

  /** How far two clocks part at the most in so many microseconds. */
  private[time] def drift(micros: Long): Long = (micros * MaxDriftPpm + 999999) / 1000000

  private def certain(exchanges: Vector[ClockExchange], now: Long): Option[ClockInterval] =
    ClockInterval.ofAll(exchanges.flatMap(one => one.interval.map(_.widened(drift(math.abs(now - one.at))))))
}
