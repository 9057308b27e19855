package org.apache.spark.sql.latency

import java.lang.management.ManagementFactory
import java.util.concurrent.CountDownLatch
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicLong
import javax.management.ObjectName

import scala.jdk.CollectionConverters._

import io.sparklatency.LatencyPlugin
import io.sparklatency.figures.ExecutorClock
import io.sparklatency.figures.JmxName
import io.sparklatency.spark.Logged
import io.sparklatency.spark.Patience
import io.sparklatency.spark.SparkTest
import io.sparklatency.spark.base.LatencyConf
import io.sparklatency.time.ClockCorrection
import io.sparklatency.time.ClockExchange
import io.sparklatency.time.ClockOffset
import io.sparklatency.time.PreciseTime
import org.apache.spark.SparkConf
import org.apache.spark.scheduler.SparkListenerExecutorRemoved
import org.apache.spark.sql.latency.metrics.ClockExchanges
import org.apache.spark.sql.latency.metrics.DropwizardSource
import org.apache.spark.sql.latency.metrics.ExecutorClocks
import org.apache.spark.sql.latency.metrics.LatencyBean
import org.apache.spark.sql.latency.recording.ClockQuestion

/** Executors ask the driver for its time; both clocks are the test's. In Spark's package for its own. */
class ExecutorClocksSuite extends SparkTest {

  /** Of a thread that has to wait for so long, in microseconds, when it has read the time of day. */
  private final class Time(skew: Long, now: AtomicLong) extends PreciseTime {
    val waits = new LinkedBlockingQueue[Integer]
    override def micros(): Long = now.getAndAdd(Option(waits.poll()).fold(0L)(_.toLong)) + skew
    override def steadyMicros(): Long = now.get
  }

  private final class Driver(isLocal: Boolean = false) {
    val now = new AtomicLong(1000000)
    val time = new Time(0, now)
    val source = new DropwizardSource
    val clocks = new ExecutorClocks(time, source, isLocal)

    /** @param micros how long a message is on its way */
    def ask(message: AnyRef, micros: Long = 100): AnyRef = {
      val ClockQuestion.Received(question) = message: @unchecked
      now.addAndGet(micros)
      val answer = clocks.answer(question)
      now.addAndGet(micros)
      answer
    }

    def gauges: Map[String, Any] =
      source.metricRegistry.getGauges.asScala.map { case (name, gauge) => name -> gauge.getValue }.toMap
  }

  /** An executor that is so far ahead, and has come to know its clock by one exchange. */
  private def known(driver: Driver, executor: String, skew: Long): Unit = {
    val time = new Time(skew, driver.now)
    val first = ClockQuestion(executor, time.micros(), time.steadyMicros(), None)
    val exchange = first.exchange(driver.ask(first.message), time.micros())
    driver.ask(ClockQuestion(executor, time.micros(), time.steadyMicros(), exchange).message)
    ()
  }

  private def bean(executor: String) = {
    val (server, name) = (ManagementFactory.getPlatformMBeanServer, JmxName.ofClock(executor))
    if (server.isRegistered(name))
      Seq("clock-offset", "clock-offset-bound").map(server.getAttribute(name, _))
    else Nil
  }

  test("the driver knows each executor's clock after one exchange, until the executor goes") {
    val driver = new Driver
    known(driver, "1", skew = 30000)
    known(driver, "2", skew = -20000)
    // 100 microseconds each way, two for readings and drift on the way; since then one more for drift.
    assert(driver.clocks.all === Seq(
      ExecutorClock("1", ClockOffset(30000, 103)),
      ExecutorClock("2", ClockOffset(-20000, 103))
    ))
    val gauges = Map("executor.1.clock-offset" -> 30.0, "executor.1.clock-offset-bound" -> 0.103)
    assert(driver.gauges.filter(_._1.startsWith("executor.1.")) === gauges)
    assert(bean("1") === Seq(30.0, 0.103))
    driver.clocks.onExecutorRemoved(SparkListenerExecutorRemoved(0, "1", "gone"))
    known(driver, "1", skew = 30000) // lost only to the driver, it goes on asking
    assert(driver.clocks.all.map(_.executor) === Seq("2"))
    driver.clocks.close()
    known(driver, "3", skew = 0) // too late
    assert(
      driver.gauges.keySet === Set("executor.2.clock-offset", "executor.2.clock-offset-bound"),
      "for a last report"
    )
    assert(bean("1").isEmpty && bean("2").isEmpty && driver.clocks.all.map(_.executor) === Seq("2"))
  }

  test("how far the times are off that an executor has recorded is still known when it has gone") {
    val driver = new Driver
    known(driver, "1", skew = 30000)
    val recorded = driver.clocks.recorded("1")
    assert(recorded === Some(ClockOffset(0, 103)))
    driver.clocks.onExecutorRemoved(SparkListenerExecutorRemoved(0, "1", "gone"))
    driver.now.addAndGet(3600000000L)
    assert(driver.clocks.recorded("1") === recorded)
    assert(driver.clocks.recorded("unheard of") === None)
    driver.clocks.onExecutorRemoved(SparkListenerExecutorRemoved(0, "1", "told again"))
    assert(driver.clocks.recorded("1") === recorded)
    driver.clocks.close()
  }

  test("the log says once of an executor that it is more than 50 ms off") {
    val driver = new Driver
    val logged = Logged.during {
      for ((executor, skew) <- Seq("1" -> 50100L, "2" -> 3500000L, "2" -> 3500000L))
        known(driver, executor, skew)
    }
    driver.clocks.close()
    assert(logged.filter(_.contains("clock of executor")) === Seq(
      "The clock of executor 2 is 3.5 s ahead of the driver's (± 0.1 ms): latencies are corrected by that."
    ))
  }

  test("a server of MBeans that takes none of ours fails nothing else, and the log says so at most once") {
    val pattern = new ObjectName("sparklatency:type=refused,*") // no bean can have such a name
    val logged = Logged.during {
      for (_ <- 1 to 2) assert(LatencyBean.register(pattern, () => Some(ClockOffset.Same)) === pattern)
    }
    assert(logged.count(_.contains("JMX takes no MBean of ours")) <= 1)
    LatencyBean.unregister(pattern)
  }

  test("an executor compares its clock eight times at once, then at each interval") {
    val driver = new Driver
    val asked = new LinkedBlockingQueue[Long]
    @volatile var corrected = ClockCorrection.None
    val exchanges =
      new ClockExchanges("7", 1, new Time(-2000000, driver.now), corrected = _)(message => {
        asked.add(System.nanoTime())
        driver.ask(message)
      })
    try for (_ <- 1 to 20) assert(Option(asked.poll(Patience.Seconds, TimeUnit.SECONDS)).nonEmpty)
    finally exchanges.stop()
    val Seq(clock) = driver.clocks.all: @unchecked
    driver.clocks.close()
    assert(math.abs(clock.offset.micros + 2000000) <= clock.offset.bound)
    assert(
      math.abs(corrected.micros + 2000000) <= clock.offset.bound,
      "and the executor corrects its clock by it"
    )
  }

  for (side <- Seq("an executor", "a driver"))
    test(
      s"$side that has to wait for a processor while it reads its clock is not taken for one whose clock was set"
    ) {
      val driver = new Driver
      val time = new Time(30000, driver.now)
      val asked = new AtomicInteger
      val over = new CountDownLatch(1)
      val exchanges = new ClockExchanges("7", 1, time, _ => ())(message => {
        val isSlow = asked.incrementAndGet() > 4
        if (isSlow) {
          if (side == "a driver") driver.time.waits.add(7000)
          else Seq(0, 7000).foreach(time.waits.add(_)) // when it returns, and when it asks again
        }
        if (asked.get == 20) over.countDown()
        // A clock that was set would be known by these alone.
        driver.ask(message, if (isSlow) 5000 else 100)
      })
      try assert(over.await(Patience.Seconds, TimeUnit.SECONDS))
      finally exchanges.stop()
      val Seq(clock) = driver.clocks.all: @unchecked
      driver.clocks.close()
      assert(math.abs(clock.offset.micros - 30000) <= clock.offset.bound)
      assert(clock.offset.bound < 1000, "100 by the quick ones, and a thousandth of the time since then")
    }

  test("an executor that compares its clock once an hour still does so eight times when it starts") {
    val driver = new Driver
    val asked = new LinkedBlockingQueue[Integer]
    val exchanges = new ClockExchanges("7", 3600000, new Time(0, driver.now), _ => ())(message => {
      asked.add(1)
      driver.ask(message)
    })
    try for (_ <- 1 to 8) assert(Option(asked.poll(Patience.Seconds, TimeUnit.SECONDS)).nonEmpty)
    finally exchanges.stop()
    driver.clocks.close()
  }

  test("at each interval it does so three times at once") {
    val driver = new Driver
    val asked = new LinkedBlockingQueue[Long]
    val exchanges = new ClockExchanges("7", 500, new Time(0, driver.now), _ => ())(message => {
      asked.add(System.nanoTime())
      driver.ask(message)
    })
    val at =
      try { (1 to 17).map(_ => asked.poll(Patience.Seconds, TimeUnit.SECONDS)) }
      finally exchanges.stop()
    driver.clocks.close()
    def ms(later: Int, earlier: Int) = (at(later - 1) - at(earlier - 1)) / 1000000
    val (pauses, rows) = Seq(9, 12, 15).map(first => (ms(first, first - 1), ms(first + 2, first))).unzip
    assert(pauses.forall(_ >= 499) && rows.exists(_ < 499), at) // a busy machine may hold up some of them
  }

  test("an executor whose driver does not answer says so once, and asks again") {
    val asked = new LinkedBlockingQueue[Integer]
    val logged = Logged.during {
      val exchanges = new ClockExchanges("7", 1, new Time(0, new AtomicLong), _ => ())(_ => {
        asked.add(1)
        throw new IllegalStateException("no driver")
      })
      try for (_ <- 1 to 5) assert(Option(asked.poll(Patience.Seconds, TimeUnit.SECONDS)).nonEmpty)
      finally exchanges.stop()
    }
    assert(logged.filter(_.contains("compared")) ===
      Seq("This executor's clock is not compared with the driver's."))
  }

  test("in local mode the one clock is right by construction, on every surface") {
    val clocks = latencyOf(null).get("clocks")
    assert(clocks.toString === """[{"executor":"driver","offset":0.0,"bound":0.0,"text":null}]""")
    assert(gauges.filter(_._1.startsWith("executor.")) ===
      Map("executor.driver.clock-offset" -> 0.0, "executor.driver.clock-offset-bound" -> 0.0))
  }

  test("the driver's plugin answers with its time") {
    latencyOf(null)
    val before = System.currentTimeMillis() * 1000
    val question = ClockQuestion("9", 0, 5, None)
    val Some(ClockExchange(0, received, answered, 1, _, 5)) =
      question.exchange(new LatencyPlugin().driverPlugin().receive(question.message), 1): @unchecked
    assert(before <= received && received <= answered && answered <= System.currentTimeMillis() * 1000 + 1000)
  }

  test("the interval is a second, or what is set; 0 is never") {
    def interval(settings: (String, String)*) =
      LatencyConf(new SparkConf(false).setAll(settings)).clockInterval
    val key = "spark.sparklatency.clock.interval"
    assert(Seq(interval(), interval(key -> "200ms"), interval(key -> "0")) === Seq(
      Some(1000L),
      Some(200L),
      None
    ))
    for (bad <- Seq("-1s", "1us")) {
      val error = intercept[IllegalArgumentException](interval(key -> bad)).getMessage
      assert(
        error === s"$key=$bad is not valid: a duration from 1ms to 366d such as 1s or 500ms; 0 for never is allowed"
      )
    }
  }
}
