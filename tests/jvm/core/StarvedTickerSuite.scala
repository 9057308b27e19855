package io.sparklatency.time

import java.util.SplittableRandom

import io.sparklatency.recording.LatencyRecorder
import io.sparklatency.recording.LatencySummary
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

/**
 * What rows are told around pauses where the ticker does not run at all, as on a machine that is too busy. Each row is held against the
 * clock right before and right after it, so that a pause that nobody meant breaks nothing here.
 * The ticker is that of the process: no other suite may run beside this one.
 */
class StarvedTickerSuite extends AnyFunSuite with BeforeAndAfterAll {
  import StarvedTickerSuite._

  /** While one is said to run no other begins. The last one ends a second after the last fast row. */
  override protected def beforeAll(): Unit = {
    super.beforeAll()
    val end = System.nanoTime() + 60L * 1000 * 1000 * 1000
    while (!Ticker.running.compareAndSet(false, true)) {
      assert(System.nanoTime() < end, "the ticker goes on")
      Thread.sleep(10)
    }
  }

  override protected def afterAll(): Unit =
    try Ticker.running.set(false)
    finally super.afterAll()

  /** Takes rows one after another, some forty of them after a pause of 5 to 50 ms. `take` is given the time before its row. */
  private def passed(take: (Int, Long) => Unit): Passed = {
    val (before, after) = (new Array[Long](Rows), new Array[Long](Rows))
    val (random, ticked) = (new SplittableRandom(15), Ticker.now)
    for (row <- 0 until Rows) {
      if (random.nextInt(5000) == 0) Thread.sleep(5L + random.nextInt(46))
      before(row) = SteadyClock.millis()
      take(row, before(row))
      after(row) = SteadyClock.millis()
    }
    assert(Ticker.now === ticked, "it is starved")
    new Passed(before, after)
  }

  private def shown(rows: RowClock): (Passed, Array[Long]) = {
    val told = new Array[Long](Rows)
    val all = passed((row, _) => told(row) = rows.millis())
    (all, told)
  }

  /** Of records that are new as they come, and of others that are a second old. */
  private def recorded(readEveryRow: Boolean): (Passed, LatencySummary, LatencySummary) = {
    def recorder = new LatencyRecorder(SteadyClock, readEveryRow = readEveryRow)
    val (fresh, old) = (recorder, recorder)
    val rows = passed { (_, now) =>
      fresh.record(now * 1000)
      old.record((now - 1000) * 1000)
    }
    (rows, fresh.summary(), old.summary())
  }

  test("a row that has a reading of its own is told the time, after a pause as ever") {
    val (rows, told) = shown(new RowClock(SteadyClock, everyRow = true))
    for (row <- told.indices) assert(rows.before(row) <= told(row) && told(row) <= rows.after(row), row)
  }

  test("where each row has a reading of its own no age is wrong") {
    val (rows, fresh, old) = recorded(readEveryRow = true)
    for ((ages, least) <- Seq(fresh -> 0L, old -> 1000L)) {
      assert((ages.count, ages.aheadOfClock) === ((Rows, 0)))
      assert(ages.min.get >= least && ages.max.get <= least + rows.took.max)
      assert(ages.sum >= least * Rows && ages.sum <= least * Rows + rows.took.sum)
    }
  }

  test(
    "a row that shares a reading is wrong by no more than a pause, and only if its run began before that"
  ) {
    val (rows, told) = shown(new RowClock(SteadyClock))
    for (row <- told.indices)
      assert(rows.runSince(row) <= told(row) && told(row) <= rows.after(row), row)
  }

  test(
    "where rows share readings an age is too low by no more than a pause, and of no run but that of the pause"
  ) {
    val (rows, fresh, old) = recorded(readEveryRow = false)
    assert((fresh.count, fresh.aheadOfClock, fresh.min) === ((Rows, 0, Some(0))))
    assert(fresh.max.get <= rows.took.max && fresh.sum <= rows.took.sum)
    val late = (0 until Rows).map(row => rows.before(row) - rows.runSince(row))
    assert((old.count, old.aheadOfClock) === ((Rows, 0)))
    assert(old.min.get >= 1000 - late.max && old.max.get <= 1000 + rows.took.max)
    assert(old.sum >= 1000L * Rows - late.sum && old.sum <= 1000L * Rows + rows.took.sum)
  }
}

private object StarvedTickerSuite {
  private val Rows = 200000

  /** Goes on as `System.nanoTime` does, and nobody sets it. */
  private object SteadyClock extends Clock {
    private val start = System.nanoTime()
    override def micros(): Long = 1790000000000000L + (System.nanoTime() - start) / 1000
    override def millis(): Long = micros() / 1000
    override def readEveryRow: Boolean = false
  }

  /** What the clock said before and after each row, in milliseconds. */
  private final class Passed(val before: Array[Long], val after: Array[Long]) {

    /** How long each row took. */
    def took: Seq[Long] = before.indices.map(row => after(row) - before(row))

    /** The earliest time at which a row's run can have begun. */
    def runSince(row: Int): Long = before(math.max(row + 1 - RowClock.LongestRun, 0))
  }
}
