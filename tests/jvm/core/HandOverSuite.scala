package io.sparklatency

import java.util.SplittableRandom
import java.util.concurrent.atomic.AtomicBoolean

import scala.collection.mutable

import io.sparklatency.recording.LatencyRecorder
import io.sparklatency.recording.LatencySummary
import io.sparklatency.time.Clock
import io.sparklatency.time.ManualClock
import org.scalatest.funsuite.AnyFunSuite

/**
 * A writer and a poller at work at the same time, in many rounds of real threads, which yield and spin wherever the clock is read,
 * wherever something is published, and between rows. What is published one after another must be the rows one after another:
 * none lost, none twice, none in part.
 */
class HandOverSuite extends AnyFunSuite {
  private val Rounds = 300
  private val Rows = 2000
  private val Now = 1790000000000L
  private val WithoutTimestamp = -1L // in place of a row's age

  private def stir(random: SplittableRandom): Unit = random.nextInt(24) match {
    case 0 => Thread.`yield`()
    case n if n < 8 => (1 to random.nextInt(100)).foreach(_ => Thread.onSpinWait())
    case _ =>
  }

  /** Goes on with each reading, so that it is known which one a row had: the last. */
  private final class RestlessClock(random: SplittableRandom, val readEveryRow: Boolean) extends Clock {
    var shown: Long = Now // only the writer reads it
    override def millis(): Long = { stir(random); shown += random.nextInt(3); shown }
  }

  /** @return how many times each published: the writer, the poller */
  private def round(seed: Int, readEveryRow: Boolean): (Int, Int) = {
    val random = new SplittableRandom(seed.toLong)
    val (clock, stirring) = (new RestlessClock(random.split(), readEveryRow), random.split())
    val parts = mutable.ArrayBuffer.empty[(LatencySummary, Option[Long], Thread)]
    val recorder = new LatencyRecorder(
      clock,
      (part, oldest) => { stir(stirring); parts += ((part, oldest, Thread.currentThread)) },
      publishNanos = random.nextInt(200000).toLong,
      reference = Some(Now + 100000)
    )
    val (ages, times) = (new Array[Long](Rows), new Array[Long](Rows))

    val (poller, done) = (poll(recorder, random.split()), stirring.split())
    for (row <- 0 until Rows) {
      val timestamp = clock.shown - random.nextInt(2000)
      val isWithout = random.nextInt(10) == 0
      if (isWithout) recorder.recordWithoutTimestamp() else recorder.record(timestamp * 1000)
      times(row) = clock.shown
      ages(row) = if (isWithout) WithoutTimestamp else clock.shown - timestamp
      stir(done)
    }
    poller.stop()
    val (all, rest) = recorder.seal()

    assertSame(all, ages.toSeq)
    assert((all.min, all.max) === ((Some(ages.filter(_ >= 0).min), Some(ages.max))))
    val committed = recorder.agesOfAll.get
    val atReference = ages.indices.filter(ages(_) >= 0).map(row => ages(row) + committed.atMs - times(row))
    assert((committed.summary.records, committed.summary.sum) === ((Rows, BigInt(atReference.sum))))
    assert((
      committed.summary.min,
      committed.summary.max
    ) === ((Some(atReference.min), Some(atReference.max))))
    var from = 0
    for ((part, oldest) <- parts.map { case (part, oldest, _) => (part, oldest) } :+ ((rest, None))) {
      val until = from + part.records.toInt
      assertSame(part, ages.slice(from, until).toSeq)
      val timestamps = (from until until).filter(ages(_) >= 0).map(row => times(row) - ages(row))
      assert(oldest.forall(_ <= timestamps.min))
      from = until
    }
    assert(from === Rows)
    val polled = parts.count { case (_, _, thread) => thread eq poller.thread }
    (parts.size - polled, polled)
  }

  /** All but the minimum and the maximum, which may be those of rows before these as well. */
  private def assertSame(summary: LatencySummary, ages: Seq[Long]): Unit = {
    val (measured, without) = ages.partition(_ >= 0)
    assert((summary.count, summary.withoutTimestamp) === ((measured.size, without.size)))
    assert(summary.sum === measured.map(BigInt(_)).sum)
    val exact = 0L to 255L by 17
    assert(summary.countsUpTo(exact) === exact.map(ms => measured.count(_ <= ms)))
    assert(summary.countsUpTo(Seq(2100)) === Seq(measured.size))
    if (measured.nonEmpty) assert(summary.min.get <= measured.min && summary.max.get >= measured.max)
  }

  private final class Poller(val thread: Thread, done: AtomicBoolean) {
    def stop(): Unit = { done.set(true); thread.join() }
  }

  private def poll(recorder: LatencyRecorder, random: SplittableRandom): Poller = {
    val done = new AtomicBoolean
    val thread = new Thread(() =>
      while (!done.get) {
        recorder.publishIfSilent()
        stir(random)
      }
    )
    thread.start()
    new Poller(thread, done)
  }

  test("rows that follow what the poller published are published as well, though the clock stands still") {
    var parts = 0
    val recorder =
      new LatencyRecorder(new ManualClock(Now), (_, _) => parts += 1, publishNanos = 100L * 1000 * 1000)
    for (part <- 1 to 3) {
      recorder.record(0)
      val end = System.nanoTime() + 240L * 1000 * 1000 * 1000
      while (parts < part && System.nanoTime() < end) recorder.publishIfSilent()
      assert(parts === part)
    }
  }

  for ((readEveryRow, name) <- Seq(true -> "each row", false -> "a run of rows"))
    test(s"each row is published once and whole, with a reading of the clock for $name") {
      // How often each is let run is the machine's: rounds go on until both have been at work.
      var (rounds, writer, poller) = (0, 0, 0)
      while (rounds < Rounds || rounds < 20 * Rounds && (writer <= Rounds || poller <= Rounds)) {
        rounds += 1
        val (byWriter, byPoller) = round(rounds, readEveryRow)
        writer += byWriter
        poller += byPoller
      }
      assert(writer > Rounds && poller > Rounds)
      info(s"published by the writer $writer times, by the poller $poller")
    }
}
