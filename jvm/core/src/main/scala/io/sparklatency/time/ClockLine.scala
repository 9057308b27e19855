package io.sparklatency.time

/**
 * The offset of a clock that parts from ours at one rate: a line through the intervals of all its exchanges. What is
 * left open is divided evenly. Immutable. A question costs a pass over the exchanges.
 *
 * @param exchanges oldest first, at least one
 */
private[time] final class ClockLine private (exchanges: Vector[ClockExchange], val rate: ClockRate) {
  import ClockLine._

  /** @param now by the clock of [[ClockExchange.at]] */
  def at(now: Long): Long = {
    var (low, high) = (Double.NegativeInfinity, Double.PositiveInfinity)
    for (one <- exchanges; interval <- one.interval) {
      val moved = (now - one.at) * rate.perMicro
      val doubt = math.abs(now - one.at) * (rate.doubt + Wander)
      low = math.max(low, interval.low + moved - doubt)
      high = math.min(high, interval.high + moved + doubt)
    }
    math.round((low + high) / 2)
  }
}

private[time] object ClockLine {

  /**
   * By how much a rate changes of itself, as the quartz gets warmer or colder: an old exchange says less than a new
   * one.
   */
  private val Wander = 10e-6

  /**
   * Where no one rate fits, because a clock has begun to be put right, only the newer half of the exchanges counts.
   *
   * @param earlier the rate before these exchanges. It stands until they know better, or contradict it
   */
  def of(exchanges: Vector[ClockExchange], earlier: Option[ClockRate]): ClockLine =
    rate(exchanges) match {
      case Some(rate) =>
        val known = earlier.filter(before => before.doubt < rate.doubt && before.meets(rate))
        new ClockLine(exchanges, known.getOrElse(rate))
      case None => of(exchanges.drop((exchanges.size + 1) / 2), earlier)
    }

  /**
   * What each pair leaves: no slower than from the first's top to the other's bottom, no faster than from bottom to
   * top.
   */
  private def rate(exchanges: Vector[ClockExchange]): Option[ClockRate] = {
    val known = exchanges.filter(_.interval.nonEmpty)
    // Two thousand pairs, for each exchange with each executor: no boxes.
    val at = known.map(_.at).toArray
    val low = known.map(_.interval.fold(0L)(_.low)).toArray
    val high = known.map(_.interval.fold(0L)(_.high)).toArray
    var (least, most) = (-ClockRate.Unknown.doubt, ClockRate.Unknown.doubt)
    for (j <- at.indices; i <- 0 until j) {
      val span = (at(j) - at(i)).toDouble
      if (span > 0) {
        least = math.max(least, (low(j) - high(i)) / span)
        most = math.min(most, (high(j) - low(i)) / span)
      }
    }
    Option.when(least <= most)(ClockRate.between(least, most))
  }
}
