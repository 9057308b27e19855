package io.sparklatency

import java.util.SplittableRandom

import scala.collection.mutable

import io.sparklatency.recording.Ages
import io.sparklatency.recording.LatencyRecorder
import io.sparklatency.recording.LatencySummary
import io.sparklatency.time.Clock
import io.sparklatency.time.ManualClock
import org.scalatest.funsuite.AnyFunSuite

/**
 * Rows that share readings of the clock go into cells, one for each millisecond of age; a row with a reading of its own never does. So
 * two recorders of the same rows, one of each kind, must say the same, whatever the ages are.
 */
class AgeCellsSuite extends AnyFunSuite {
  import AgeCellsSuite._

  private val Today = 1790000000000L
  private val Rows = 100000
  private val Hour = 3600000L
  private val NoTimestamp = Long.MinValue

  /** Goes on with each reading, or back, so that it is known which one a row had: the last. */
  private final class StridingClock(start: Long, random: SplittableRandom) extends Clock {
    var shown: Long = start
    override def millis(): Long = { shown += random.nextInt(-1, 4); shown }
    override def micros(): Long = millis() * 1000 + 999 // about to go on
    override def readEveryRow: Boolean = false
  }

  private def logUniform(random: SplittableRandom, longest: Double) =
    math.pow(longest, random.nextDouble()).toLong

  private val spreads = Seq[(String, (Int, SplittableRandom) => Long)](
    ("one age", (_, _) => 250),
    ("none at all", (_, _) => 0),
    ("within a few milliseconds", (_, random) => 5000L + random.nextInt(-20, 20)),
    ("log-uniform up to ten seconds", (_, random) => logUniform(random, 10000)),
    ("even over an hour", (_, random) => random.nextLong(Hour)),
    ("fresh but for one in a hundred", (row, _) => if (row % 100 == 7) Hour + row % 3 else row % 50L),
    ("oldest first, a record a second", (row, _) => (Rows - row) * 1000L),
    ("oldest first, a hundred records a millisecond", (row, _) => (Rows - row) / 100L),
    ("newest first", (row, _) => row / 3L),
    ("wider and wider", (row, random) => random.nextLong(row + 1L)),
    ("a step after half of them", (row, _) => if (row < Rows / 2) 40 else 90000),
    ("some without a timestamp", (row, random) => if (row % 7 < 2) NoTimestamp else random.nextLong(3000)),
    (
      "some ahead of the clock",
      (row, random) => if (row % 1000 == 999) -2000 - random.nextLong(500) else random.nextLong(900)
    )
  )

  /** Gives the same rows to both recorders. The first is also asked in between, now and then twice within a run of rows. */
  private def compare(start: Long, reference: Option[Long], ageOf: (Int, SplittableRandom) => Long): Unit = {
    val random = new SplittableRandom(15)
    val (striding, following) = (new StridingClock(start, random.split()), new ManualClock(start))
    val timestamps = mutable.ArrayBuffer.empty[Option[Long]] // of what has not been published
    val measured = mutable.ArrayBuffer.empty[Measured]
    var published = LatencySummary.empty
    def publish(part: LatencySummary, oldest: Option[Long]): Unit = {
      assert((part.records, oldest) === ((timestamps.size, timestamps.flatten.minOption)))
      timestamps.clear()
      published += part
    }
    val fast = new LatencyRecorder(striding, publish, reference = reference)
    val exact = new LatencyRecorder(following, reference = reference)
    for (row <- 0 until Rows) {
      val timestamp =
        Some(ageOf(row, random)).filter(_ != NoTimestamp).map(striding.shown - _).filter(_ >= 0)
      timestamp match {
        case Some(ms) => fast.record(ms * 1000 + row % 1000)
        case None => if (row % 7 == 0) fast.recordWithoutTimestamp() else fast.record(-1L - row % 1000)
      }
      following.set(striding.shown)
      timestamp.fold(exact.recordWithoutTimestamp())(ms => exact.record(ms * 1000))
      timestamps += timestamp
      measured ++= timestamp.map(Measured(_, striding.shown))
      if (row % 5003 == 0 || row % 5003 == 50) {
        assert(fast.summary().records === row + 1)
        assert(fast.agesOfAll.forall(ages => ages.summary.count == measured.size))
      }
    }
    val whole = Figures(exact.summary())
    assert(Figures(fast.summary()) === whole)
    val (all, rest) = fast.seal()
    assert((Figures(all), Figures(published + rest)) === ((whole, whole)))
    assert((all.records, rest.records) === ((Rows, timestamps.size)))
    for (recorder <- Seq(fast, exact); ages <- recorder.agesOfAll)
      assertSame(ages, measured.toSeq, Rows - measured.size)
    assert(fast.agesOfAll.size === reference.size)
  }

  private def assertSame(found: Ages, records: Seq[Measured], withoutTimestamp: Int): Unit = {
    val (atMs, ages) = (found.atMs, found.summary)
    val timestamps = records.map(_.timestampMs)
    assert((ages.count, ages.withoutTimestamp) === ((records.size, withoutTimestamp)))
    assert(ages.sum === timestamps.map(BigInt(atMs) - _).sum)
    assert((ages.min, ages.max) === ((Some(atMs - timestamps.max), Some(atMs - timestamps.min))))
    assert(ages.aheadOfClock === records.count(record => record.timestampMs > record.readMs))
    val (sorted, percents) = (records.map(_.ageAt(atMs)).sorted, Seq(1, 10, 50, 90, 99))
    for ((percent, Some(told)) <- percents.zip(ages.percentiles(percents.map(_.toDouble)))) {
      val exact = sorted((sorted.size * percent + 99) / 100 - 1)
      // Where they were moved from the time of reference to a later one, to 1 % of the time between as well.
      val scale = exact + math.max(0, atMs - Today - 1000)
      assert(math.abs(told - exact) <= scale / 100.0, s"$percent %: $told instead of $exact")
    }
  }

  for ((name, ageOf) <- spreads; reference <- Seq(None, Some(Today + 1000)))
    test(s"rows in cells make the same figures as rows one by one: ages $name${reference.fold("")(_ =>
        ", and at the commit"
      )}")(
      compare(Today, reference, ageOf)
    )

  test("in the first seconds after the epoch a record without a timestamp is still none") {
    compare(5000, None, (_, random) => random.nextLong(6000))
  }
}

object AgeCellsSuite {

  private final case class Measured(timestampMs: Long, readMs: Long) {

    /** As it is taken for percentiles: one that was ahead of the clock to have been at its time. */
    def ageAt(ms: Long): Long = ms - math.min(timestampMs, readMs)
  }
}
