package io.sparklatency

import io.sparklatency.recording.LatencyRecorder
import io.sparklatency.recording.LatencySummary
import io.sparklatency.time.Clock
import io.sparklatency.time.ManualClock
import io.sparklatency.time.RowClock
import io.sparklatency.time.SystemClock
import org.scalatest.funsuite.AnyFunSuite

class LatencyRecorderSuite extends AnyFunSuite {
  private val clock = new ManualClock(0)

  private def recorded(timestampsMs: Long*): LatencySummary = {
    val recorder = new LatencyRecorder(clock)
    timestampsMs.foreach(ms => recorder.record(ms * 1000))
    recorder.summary()
  }

  test("latencies 18 and 42 have the average 30, the minimum 18 and the maximum 42") {
    clock.set(100)
    val summary = recorded(82, 58)
    assert((summary.count, summary.min, summary.max, summary.avg) === ((2, Some(18), Some(42), Some(30.0))))
  }

  test("timestamps 100, 150 and 400 read at 1000 are 600 to 900 old, 783.33 on average") {
    clock.set(1000)
    val summary = recorded(100, 150, 400)
    assert((summary.min, summary.max, summary.sum) === ((Some(600), Some(900), BigInt(2350))))
    assert(summary.avg === Some(2350.0 / 3))
  }

  test("a clock that goes back is believed") {
    val recorder = new LatencyRecorder(clock)
    for (now <- Seq(10L, 15L, 23L, 5L)) { clock.set(now); recorder.record(0) }
    val summary = recorder.summary()
    assert((summary.avg, summary.min, summary.max) === ((Some(13.25), Some(5), Some(23))))
  }

  test("without a record nothing is known") {
    val summary = recorded()
    assert(summary.isEmpty && summary.count === 0)
    assert(Seq(
      summary.min,
      summary.max,
      summary.avg,
      summary.maxLead,
      summary.percentile(50)
    ).forall(_.isEmpty))
  }

  test("a record without a timestamp, or with one before the epoch, is counted and not measured") {
    clock.set(50)
    val recorder = new LatencyRecorder(clock)
    recorder.recordWithoutTimestamp()
    recorder.record(-1)
    recorder.record(Long.MinValue)
    recorder.record(0)
    val summary = recorder.summary()
    assert((summary.records, summary.count, summary.withoutTimestamp) === ((4, 1, 3)))
    assert((summary.min, summary.max) === ((Some(50), Some(50))))
  }

  test("a timestamp in the future keeps its sign, and is 0 for percentiles") {
    clock.set(1000)
    val summary = recorded(1700, 1030, 990)
    assert((summary.min, summary.max, summary.sum) === ((Some(-700), Some(10), BigInt(-720))))
    assert((summary.aheadOfClock, summary.maxLead) === ((2, Some(700))))
    assert((summary.percentile(50), summary.percentile(100)) === ((Some(0), Some(10))))
  }

  test("if all timestamps are in the future, each percentile is the maximum, which is below 0") {
    clock.set(1000)
    val ahead = recorded(1700, 1030, 1030, 1020)
    val percents = Seq(0, 50, 90, 99, 99.9, 100)
    assert((ahead.min, ahead.max) === ((Some(-700), Some(-20))))
    assert(ahead.percentiles(percents) === percents.map(_ => Some(-20)))
    assert((ahead + recorded(1000)).percentiles(percents) === percents.map(_ => Some(0)))
  }

  test("timestamps at the ends of time overflow nothing") {
    clock.set(0)
    val recorder = new LatencyRecorder(clock)
    for (_ <- 1 to 3000) recorder.record(Long.MaxValue)
    val summary = recorder.summary()
    assert(summary.sum === BigInt(-(Long.MaxValue / 1000)) * 3000)
    assert((
      summary.min,
      summary.avg
    ) === ((Some(-(Long.MaxValue / 1000)), Some(-(Long.MaxValue / 1000).toDouble))))

    clock.set(Long.MaxValue)
    val old = recorded(0, 0, 0)
    assert((
      old.max,
      old.sum,
      old.percentile(50)
    ) === ((Some(Long.MaxValue), BigInt(Long.MaxValue) * 3, Some(Long.MaxValue))))
  }

  test("a hundred latencies from 0 to 99 have exact percentiles") {
    clock.set(99)
    val summary = recorded(0L to 99L: _*)
    assert(summary.percentiles(Seq(1, 25, 50, 90, 99, 100)) === Seq(
      0, 24, 49, 89, 98, 99
    ).map(ms => Some(ms.toLong)))
  }

  test("a summary survives serialization") {
    clock.set(100000)
    val summary = recorded(1, 2, 50000, 200000)
    val bytes = new java.io.ByteArrayOutputStream
    new java.io.ObjectOutputStream(bytes).writeObject(summary)
    val read = new java.io.ObjectInputStream(new java.io.ByteArrayInputStream(bytes.toByteArray)).readObject()
    assert(Figures(read.asInstanceOf[LatencySummary]) === Figures(summary))
  }

  test("nothing is handed over behind the end, though another thread may go on") {
    clock.set(1000000)
    var published = Seq.empty[Long]
    val recorder = new LatencyRecorder(clock, (part, _) => published :+= part.records)
    recorder.record(999990000)
    recorder.seal()
    clock.advance(1000)
    recorder.record(1000400000)
    assert(published === Nil)
  }

  test("what has passed is handed over with the first row that comes more than half a second later") {
    clock.set(1000000)
    var published = Seq.empty[(Long, Option[Long])]
    val recorder = new LatencyRecorder(clock, (part, oldest) => published :+= ((part.records, oldest)))
    recorder.record(999990000)
    clock.advance(500)
    recorder.record(1000400000)
    assert(published === Nil)
    clock.advance(1)
    recorder.record(1000500000)
    assert(published === Seq((2, Some(999990))))
    for (second <- 1 to 3) {
      clock.advance(1000)
      recorder.record((1000500 + second * 1000) * 1000L)
    }
    assert(published.map(_._1) === Seq(2, 1, 1, 1), "of rows a second apart each is handed over by the next")
  }

  /** Its readings serve for many rows, as the system's do. */
  private final class SharedClock extends Clock {
    var (now, readings) = (1790000000000L, 0)
    override def millis(): Long = { readings += 1; now }
    override def readEveryRow: Boolean = false
  }

  test(
    "a record that is newer than the last reading of the clock is not ahead of it: the clock is read anew"
  ) {
    val shared = new SharedClock
    val recorder = new LatencyRecorder(shared)
    // In the middle of a run of rows, or as the first of the next.
    for (between <- Seq(300, RowClock.LongestRun - 1); _ <- 1 to 1000) {
      for (_ <- 1 to between) recorder.record((shared.now - 40) * 1000)
      shared.now += 7
      recorder.record((shared.now - 1) * 1000)
    }
    val summary = recorder.summary()
    assert((summary.aheadOfClock, summary.min) === ((0, Some(1))))
    recorder.record((shared.now + 9) * 1000)
    assert((recorder.summary().aheadOfClock, recorder.summary().maxLead) === ((1, Some(9))))
  }

  test("rows share readings of the clock, unless each is to have its own") {
    val (shared, own) = (new SharedClock, new SharedClock)
    val (sharing, waiting) = (new LatencyRecorder(shared), new LatencyRecorder(own, readEveryRow = true))
    for (row <- 1 to 100000) {
      sharing.record(shared.now * 1000)
      own.now += row % 3
      waiting.record((own.now - 50) * 1000)
    }
    assert(shared.readings < 50000 && own.readings === 100000)
    assert((waiting.summary().min, waiting.summary().max) === ((Some(50), Some(50))))
  }

  test("the sum is exact where it is more than a Long holds, or the clock shows more than any calendar") {
    for (now <- Seq(Long.MaxValue, 1L << 53, (1L << 53) + 1, 1790000000000L)) {
      val shared = new SharedClock
      shared.now = now
      val recorder = new LatencyRecorder(shared)
      val timestamps = (0L until 5000L).map(row => row % 7)
      timestamps.foreach(ms => recorder.record(ms * 1000))
      val summary = recorder.summary()
      assert((summary.sum, summary.count) === ((BigInt(now) * 5000 - timestamps.sum, 5000)))
      assert((summary.min, summary.max) === ((Some(now - 6), Some(now))))
    }
  }

  test("a busy writer loses nothing to the thread that publishes for silent ones, whatever its rows hold") {
    for (row <- Seq[LatencyRecorder => Unit](_.recordWithoutTimestamp(), _.record(0), _.record(-1))) {
      var published = 0L
      val recorder =
        new LatencyRecorder(SystemClock, (part, _) => published += part.records, 100 * 1000 * 1000)
      val until = System.nanoTime() + 700L * 1000 * 1000
      val other =
        new Thread(() => while (System.nanoTime() < until) { recorder.publishIfSilent(); Thread.sleep(50) })
      other.start()
      var rows = 0L
      while (System.nanoTime() < until) for (_ <- 1 to 100) { row(recorder); rows += 1 }
      other.join()
      val (all, rest) = recorder.seal()
      assert((all.records, published + rest.records) === ((rows, rows)))
    }
  }

  test("what is published tells the timestamp of its oldest record, however long ago that was read") {
    clock.set(1000)
    var oldest = Seq.empty[Option[Long]]
    val recorder = new LatencyRecorder(clock, (_, ms) => oldest :+= ms, publishNanos = -1)
    recorder.record(990 * 1000)
    clock.set(9000)
    recorder.record(8000 * 1000)
    clock.set(20000)
    for (_ <- 1 to 2) recorder.recordWithoutTimestamp()
    assert(oldest === Seq(Some(990), Some(8000), None))
  }

  test("the poller publishes what was there when it looked last, and leaves a row that has come since") {
    var parts = Seq.empty[Long]
    val recorder = new LatencyRecorder(clock, (part, _) => parts :+= part.records, publishNanos = -1)
    recorder.record(0)
    recorder.publishIfSilent()
    assert(parts === Seq())
    recorder.record(0) // publishes the first row itself
    recorder.publishIfSilent()
    assert(parts === Seq(1))
    for (_ <- 1 to 3) recorder.publishIfSilent()
    assert(parts === Seq(1, 1))
  }

  test("what the poller has published counts once, ahead of the clock or without a timestamp as well") {
    clock.set(1000)
    var parts = Seq.empty[LatencySummary]
    val recorder = new LatencyRecorder(clock, (part, _) => parts :+= part, publishNanos = -1)
    for (micros <- Seq(1700L * 1000, -1L, 1700L * 1000)) {
      recorder.record(micros)
      for (_ <- 1 to 2) recorder.publishIfSilent()
    }
    val all = recorder.seal()._1
    assert((all.count, all.withoutTimestamp, all.aheadOfClock, all.sum) === ((2, 1, 2, BigInt(-1400))))
    assert(parts.map(part => (part.count, part.withoutTimestamp, part.aheadOfClock)) ===
      Seq((1, 0, 1), (0, 1, 0), (1, 0, 1)))
  }

  test("a row that comes while the writer has what the poller published is told apart from it") {
    for (_ <- 1 to 100) {
      val shared = new SharedClock
      val recorder = new LatencyRecorder(shared, publishNanos = -1)
      for (_ <- 1 to 100) recorder.record(shared.now * 1000)
      recorder.record((shared.now + 5) * 1000)
      for (_ <- 1 to 2) recorder.publishIfSilent()
      recorder.record(shared.now * 1000) // as a rule by the same reading, which leaves all there
      val (all, rest) = recorder.seal()
      assert((all.count, all.aheadOfClock, rest.count, rest.aheadOfClock) === ((102, 1, 1, 0)))
    }
  }

  test("nothing is published before it is due") {
    var published = 0
    val recorder = new LatencyRecorder(clock, (_, _) => published += 1, publishNanos = Long.MaxValue)
    for (row <- 1L to 3L) {
      clock.set(row)
      recorder.record(0)
      for (_ <- 1 to 2) recorder.publishIfSilent()
    }
    assert((published, recorder.summary().records) === ((0, 3)))
  }

  test("nothing is published after the end") {
    var published = 0
    val recorder = new LatencyRecorder(clock, (_, _) => published += 1, publishNanos = -1)
    recorder.record(0)
    recorder.seal()
    for (_ <- 1 to 3) recorder.publishIfSilent()
    assert(published === 0)
  }
}
