package io.sparklatency.time

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** How far an executor's clock is off, from what it and the driver have read. */
class ClockEstimateSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import ClockEstimateSuite._

  /** Of clocks that nobody has set. */
  private def exchange(sent: Long, received: Long, answered: Long, returned: Long, at: Long) =
    ClockExchange(sent, received, answered, returned, at, sentAt = at)

  private def estimate(exchanges: ClockExchange*) = exchanges.foldLeft(ClockEstimate.Empty)(_ add _)

  test("a clock is corrected by its offset where that is more than the doubt about it") {
    assert(Seq((300L, 200L), (-300L, 200L), (200L, 200L), (0L, 0L)).map { case (micros, bound) =>
      val offset = ClockOffset(micros, bound)
      (offset.correction, offset.corrected)
    } === Seq(
      (300L, ClockOffset(0, 200)),
      (-300L, ClockOffset(0, 200)),
      (0L, ClockOffset(0, 400)),
      (0L, ClockOffset(0, 0))
    ))
  }

  test("a correction stands until clocks are compared again, however much the doubt grows meanwhile") {
    val ahead = estimate(exchange(1000800, 1000100, 1000100, 1001000, at = 1000200))
    assert(ahead.at(1000200) === Some(ClockOffset(800, 102)))
    assert(Seq(0L, 1000000L, 60000000L).map(later => ahead.correction(1000200 + later)) ===
      Seq.fill(3)(Some(ClockCorrection(800))))
    val right = estimate(exchange(1000080, 1000100, 1000100, 1000280, at = 1000200))
    assert(right.at(1000200) === Some(ClockOffset(80, 102)))
    assert(right.correction(1000200) === Some(ClockCorrection.None))
    assert(ClockEstimate.Empty.correction(0) === None)
  }

  test("a clock that is put right shows the driver's time also until clocks are compared again") {
    var (wall, steady) = (5000000L, 70000000L)
    WallClock.install(new Clock {
      override def millis(): Long = wall / 1000
      override def micros(): Long = wall
      override def steadyMicros(): Long = steady
      override def readEveryRow: Boolean = true
    })
    try {
      WallClock.correctBy(ClockCorrection(-300000000)) // five minutes behind
      wall += 300001000
      steady += 1000
      assert((WallClock.micros(), WallClock.millis()) === ((305001000, 305001)))
      WallClock.correctBy(ClockCorrection.None)
      assert(WallClock.micros() === 305001000)
    } finally WallClock.reset()
  }

  test("a process whose clock is off shows the driver's time") {
    WallClock.install(new ManualClock(5000))
    try {
      WallClock.correctBy(ClockCorrection(1500100))
      assert((WallClock.millis(), WallClock.micros()) === ((3499, 3499900)))
      WallClock.correctBy(ClockCorrection(-2000000))
      assert((WallClock.millis(), WallClock.micros()) === ((7000, 7000000)))
      WallClock.correctBy(ClockCorrection(0))
      assert((WallClock.millis(), WallClock.micros()) === ((5000, 5000000)))
    } finally WallClock.reset()
    WallClock.install(new ManualClock(5000))
    try assert(WallClock.millis() === 5000, "a reset forgets it")
    finally WallClock.reset()
  }

  test("a clock that drifts is corrected by more as time passes, until the next correction") {
    val clock = new ManualClock(5000)
    WallClock.install(clock)
    try {
      WallClock.correctBy(ClockCorrection(1000000, perSecond = 500000)) // 500 ppm
      assert(WallClock.micros() === 4000000)
      clock.advance(2000)
      assert((WallClock.millis(), WallClock.micros()) === ((5999, 5999000)))
      WallClock.correctBy(ClockCorrection(1001000, perSecond = -500000))
      assert(WallClock.micros() === 5999000)
      clock.advance(2000)
      assert(WallClock.micros() === 8000000)
    } finally WallClock.reset()
  }

  test("nothing is known before the first exchange") {
    assert(ClockEstimate.Empty.at(0) === None)
  }

  test("one exchange bounds the offset by the ways of its two messages") {
    // The executor is 5,000 ahead; 300 to the driver, 100 there, 500 back. Two readings and 800 of drift add 2.
    val exchange =
      ClockExchange(sent = 15000, received = 10300, answered = 10400, returned = 15900, at = 0, sentAt = 0)
    assert(exchange.interval === Some(ClockInterval(4698, 5502)))
    assert(estimate(exchange).at(0) === Some(ClockOffset(5100, 402)))
  }

  test("the bound grows by a thousandth of the age") {
    val one = estimate(exchange(1000, 1300, 1300, 1600, at = 0))
    assert(Seq(0L, 1000000L, 10000000L).map(one.at(_).get) ===
      Seq(ClockOffset(0, 302), ClockOffset(0, 1302), ClockOffset(0, 10302)))
  }

  test("two exchanges leave what both allow, and the offset is in the middle of that") {
    // The question took long: -1003 to 43, and 2 for drift until the other came. In that the answer did: -52 to 202.
    val first = ClockExchange(0, 1000, 1000, 1040, at = 1000, sentAt = 0)
    val second = ClockExchange(2000, 2050, 2050, 2250, at = 2050, sentAt = 2000)
    assert(estimate(first, second).at(2050) === Some(ClockOffset(-4, 49)))
  }

  test("the quickest question and the quickest answer say where, of whatever exchanges they are") {
    // 7,000 ahead, and either way takes 100 once. The quickest exchange is off by 100: it takes 150 and 350.
    val exchanges = Seq(900 -> 100, 150 -> 350, 100 -> 900).zipWithIndex.map { case ((out, back), i) =>
      val (asked, received) = (i * 10000L, i * 10000L + out)
      ClockExchange(asked + 7000, received, received, received + back + 7000, at = received, sentAt = asked)
    }
    // That answer was 19 ms ago, and until two exchanges far apart say otherwise the clock may drift by a thousandth.
    assert(estimate(exchanges: _*).at(20100).map(_.micros) === Some(7010))
  }

  test("a clock that is set starts anew") {
    val before = exchange(0, 100, 100, 200, at = 0)
    val after = exchange(3000000, 100100, 100100, 3000200, at = 100000)
    assert(estimate(before, after).at(100000) === estimate(after).at(100000))
  }

  test("a step that is smaller than a round trip starts anew as well, on either side") {
    val before = exchange(0, 10, 10, 20, at = 0)
    val usual = ClockExchange(100000, 101000, 101000, 102000, at = 100990, sentAt = 100000)
    def bounds(last: ClockExchange) = Seq(estimate(before, last), estimate(last)).map(_.at(last.at).get.bound)
    // 0.1 ms of drift in 0.1 s, and as much for two readings.
    for (last <- Seq(usual, usual.copy(sentAt = 100200), usual.copy(at = 101191)))
      assert(bounds(last).distinct.size === 2, last)
    for (last <- Seq(usual.copy(sentAt = 99799), usual.copy(sentAt = 100202), usual.copy(at = 100788)))
      assert(bounds(last).distinct.size === 1, last)
  }

  test("nothing is known after a clock was set back during an exchange") {
    val before = exchange(0, 100, 100, 200, at = 0)
    assert(estimate(before, exchange(5000, 5100, 5100, 200, at = 5000)).at(5000) === None)
  }

  test("what is older than 64 exchanges counts no more") {
    val tight = exchange(0, 10, 10, 20, at = 0)
    val wide = ClockExchange(0, 1000, 1000, 2000, at = 990, sentAt = 0)
    def bound(more: Int) = estimate(tight +: Seq.fill(more)(wide): _*).at(990).get.bound
    assert((bound(63), bound(64)) === ((13, 1003)))
  }

  test("a drift that goes on is followed, within what is certain") {
    // 200 ppm, each message 100 on its way, an exchange each second.
    val exchanges = (0 until 64).map { i =>
      val (now, offset) = (i * 1000000L, i * 200L)
      exchange(now - 100 + offset, now, now, now + 100 + offset, at = now)
    }
    val Some(ClockOffset(micros, bound)) = estimate(exchanges: _*).at(63 * 1000000L + 500000): @unchecked
    assert((micros, bound) === ((12700, 702)))
  }

  /** Of a clock that is so far ahead, each message 100 on its way. */
  private def even(now: Long, ahead: Long) =
    exchange(now - 100 + ahead, now, now, now + 100 + ahead, at = now).copy(sentAt = now - 100 + ahead)

  test("a clock that is set drifts as it did before, and its correction says so") {
    val before = (0 to 60).map(second => even(second * 1000000L, ahead = second * 500L))
    val after = even(61000000, ahead = 30500).copy(sent = 64030400, returned = 64030600)
    val stepped = estimate(before :+ after: _*)
    assert(stepped.at(61800000).map(_.micros) === Some(3030900))
    assert(stepped.correction(61800000) === Some(ClockCorrection(3030900, perSecond = 500000)))
    assert(estimate(after).at(61800000).map(_.micros) === Some(3030500), "which one exchange does not know")
  }

  test("a rate that has changed is known by the exchanges since") {
    val exchanges =
      (0 to 51).map(second => even(second * 1000000L, ahead = math.max(0, second - 31) * 500L))
    assert(estimate(exchanges: _*).at(51000000).map(_.micros) === Some(10000))
    assert(estimate(exchanges: _*).correction(51000000) === Some(ClockCorrection(10000, perSecond = 500000)))
  }

  test("no correction is told of a clock that may be right") {
    val one = estimate(exchange(1000, 1300, 1300, 1600, at = 0))
    assert(one.correction(0) === Some(ClockCorrection(0)))
    assert(ClockEstimate.Empty.correction(0) === None)
  }

  test("a task bounds the offset by its launch and its end, and all tasks together by more") {
    // 3,500 ms ahead: 4 ms until it started, 2 ms until its end was seen.
    val one = ClockInterval.ofTask(launched = 1000, started = 4504000, ended = 4600000, finished = 1102)
    val two = ClockInterval.ofTask(launched = 2000, started = 5501000, ended = 5600000, finished = 2130)
    assert(one === Some(ClockInterval(3497000, 3504001)))
    assert(ClockInterval.ofAll(Seq(one, two).flatten) === Some(ClockInterval(3497000, 3501001)))
    assert(ClockInterval.ofTask(launched = 1000, started = 900000, ended = 5000000, finished = 1500) === None)
    assert(ClockInterval.ofAll(Nil) === None)
  }

  private val skews = Gen.oneOf(
    Skew(3500000, 0),
    Skew(-2000000, 0),
    Skew(0, 500),
    Skew(3500000, -500),
    Skew(-2000000, 500),
    Skew(0, 500, step = 1500000),
    Skew(0, 0, step = 600),
    Skew(-2000000, 500, step = -300),
    Skew(-2000000, 0, step = -700000)
  )

  test("the truth is within the bound every time, and near") {
    forAll(skews, Gen.choose(0.05, 0.95), Gen.long, minSuccessful(200)) { (skew, share, seed) =>
      val run = simulated(skew, share, seed)
      run.foreach { moment =>
        val offset = moment.ours.get
        assert(math.abs(offset.micros - moment.truth) <= offset.bound, s"$skew $share $seed $moment")
      }
    }
  }

  test(
    "after 64 exchanges 99 of 100 errors are at most half a millisecond, a tenth of those of a moving average"
  ) {
    val random = new scala.util.Random(7)
    val moments = for {
      skew <- Seq(Skew(3500000, 0), Skew(-2000000, 500), Skew(0, -500), Skew(0, 500, step = 1500000))
      _ <- 1 to 10
      moment <- simulated(skew, share = 0.3 + random.nextDouble() * 0.4, random.nextLong()).drop(2 * 64)
    } yield moment
    val ours = moments.map(moment => math.abs(moment.ours.get.micros - moment.truth)).sorted
    val average = moments.map(moment => math.abs(moment.average - moment.truth)).sorted
    def p99(errors: Seq[Long]) = errors((errors.size * 99) / 100)
    info(s"p99 of ${ours.size}: ours ${p99(ours)}, moving average ${p99(average)} microseconds")
    assert(ours.size >= 10000)
    assert(p99(ours) <= 500)
    assert(p99(ours) * 10 <= p99(average))
  }
}

object ClockEstimateSuite {

  /** @param step by how much the clock is set, once, after 100 exchanges; microseconds */
  final case class Skew(offset: Long, ppm: Long, step: Long = 0)

  /** What is said of the clock at a moment, by us and by Apex's moving average, and how far it is truly off. */
  final case class Moment(truth: Long, ours: Option[ClockOffset], average: Long)

  /**
   * 300 exchanges, one each second, and what is said right after each and half a second later. Round trips are of about a
   * millisecond, now and then of many.
   *
   * @param share of the round trip that the question has, on the whole
   */
  def simulated(skew: Skew, share: Double, seed: Long): Seq[Moment] = {
    val random = new scala.util.Random(seed)
    def way(part: Double) = {
      val usual = part * (800 + 300 * -math.log(1 - random.nextDouble()))
      math.round(if (random.nextInt(20) == 0) usual * 10 else usual)
    }
    var estimate = ClockEstimate.Empty
    var deltas = Vector.empty[Long] // Apex: the driver's clock minus the time sent, a mean of 100
    def truth(now: Long) =
      skew.offset + math.round(now * skew.ppm / 1e6) + (if (now > 100500000L) skew.step else 0)
    (1 to 300).flatMap { i =>
      val sent = i * 1000000L
      val received = sent + way(share)
      val answered = received + 20
      val returned = answered + way(1 - share)
      val exchange =
        ClockExchange(
          sent + truth(sent),
          received,
          answered,
          returned + truth(returned),
          at = received,
          sentAt = sent
        )
      estimate = estimate.add(exchange)
      deltas = deltas.takeRight(99) :+ (exchange.received - exchange.sent)
      val later = if (i == 100) returned + 1 else returned + 500000
      Seq(returned, later).map(now => Moment(truth(now), estimate.at(now), -deltas.sum / deltas.size))
    }
  }
}
