package io.sparklatency.time

/**
 * The offset of an executor's clock, from the last [[ClockEstimate.Window]] exchanges with it.
 *
 * The bound is certain, not likely: each exchange gives an interval that the offset lies in, an interval grows with its age by
 * [[ClockEstimate.MaxDriftPpm]], and the offset lies in all of them. Within what they leave, one exchange says where: one with
 * a short round trip, as its messages have waited least, and not too old for what is known of the drift. The quickest exchange
 * of the older half and that of the newer give the drift.
 *
 * Where a clock was set since the last exchange, everything before is forgotten. Either side has a clock beside it that nobody sets,
 * so a step of more than a tenth of a millisecond shows at the next exchange.
 *
 * Immutable. Adding or asking costs a pass over the window, some microseconds.
 *
 * @param window oldest first; all agree
 */
final class ClockEstimate private (window: Vector[ClockExchange]) {
  import ClockEstimate._

  /** The next exchange. They come in order. */
  def add(exchange: ClockExchange): ClockEstimate = exchange.interval match {
    case None => Empty // A clock was set between question and answer. Nothing is known of it.
    case Some(_) =>
      val longer = window.takeRight(Window - 1) :+ exchange
      val isSet = window.lastOption.exists(exchange.isSetSince) || certain(longer, exchange.at).isEmpty
      new ClockEstimate(if (isSet) Vector(exchange) else longer)
  }

  /** @param now by the clock of [[ClockExchange.at]] */
  def at(now: Long): Option[ClockOffset] = certain(window, now).map { interval =>
    val micros = math.min(interval.high, math.max(interval.low, likely(now)))
    ClockOffset(micros, math.max(interval.high - micros, micros - interval.low))
  }

  private def likely(now: Long): Long = {
    val drift = this.drift
    val best = window.minBy(one => one.roundTrip / 2.0 + (now - one.at) * drift.doubt)
    middle(best) + math.round((now - best.at) * drift.rate)
  }

  private def drift: Drift = {
    val (older, newer) = window.splitAt(window.size / 2)
    older.headOption.fold(Unknown) { _ =>
      val (from, to) = (quickest(older), quickest(newer))
      val span = math.max(1, to.at - from.at).toDouble
      val doubt = (from.roundTrip + to.roundTrip) / 2 / span
      if (doubt < Unknown.doubt / 4) Drift((middle(to) - middle(from)) / span, doubt) else Unknown
    }
  }
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
  val Empty: ClockEstimate = new ClockEstimate(Vector.empty)

  /** How far two clocks part at the most in so many microseconds. */
  private[time] def drift(micros: Long): Long = (micros * MaxDriftPpm + 999999) / 1000000

  private def certain(exchanges: Vector[ClockExchange], now: Long): Option[ClockInterval] =
    ClockInterval.ofAll(exchanges.flatMap(one => one.interval.map(_.widened(drift(math.abs(now - one.at))))))

  /** How fast a clock parts from ours, and how far from that the truth may be. */
  private final case class Drift(rate: Double, doubt: Double)
  private val Unknown = Drift(0, MaxDriftPpm / 1e6)

  private def quickest(exchanges: Vector[ClockExchange]): ClockExchange = exchanges.minBy(_.roundTrip)

  private def middle(exchange: ClockExchange): Long =
    exchange.interval.fold(0L)(_.midpoint)
}
