package io.sparklatency.bench

import java.util.concurrent.ThreadLocalRandom
import java.util.concurrent.locks.LockSupport

import io.sparklatency.time.RowClock
import io.sparklatency.time.SystemClock

/**
 * How far [[RowClock]] is off, in milliseconds, for rows that come in different patterns, on an idle machine and on one whose
 * cores have four busy threads each. The operating system's clock is read right before and right after; a time between
 * those two readings is right. Prints a table in Markdown; the budget is 1 ms at the 99.9th percentile, in every line.
 */
object ClockAccuracy {
  private val Seconds = 10
  private val BusyThreadsPerCore = 4

  private val patterns: Seq[(String, Rows => Unit)] = Seq(
    "one row after another, no pause" -> { rows => rows.take(1000) },
    "one row, then a pause of 0 to 5 ms" -> { rows => rows.take(1); pause(0, 5) },
    "1,000 rows, then a pause of 1 to 20 ms" -> { rows => rows.take(1000); pause(1, 20) }
  )

  def main(args: Array[String]): Unit = {
    println("| rows | machine | readings | p50 | p99 | p99.9 | max |")
    println("|---|---|---:|---:|---:|---:|---:|")
    measureAll("idle")
    busy(BusyThreadsPerCore * Runtime.getRuntime.availableProcessors)
    measureAll(s"$BusyThreadsPerCore busy threads a core")
  }

  private def measureAll(machine: String): Unit = patterns.foreach { case (name, pattern) =>
    run(pattern, seconds = 1)
    val errors = run(pattern, Seconds)
    val percentiles = Seq(50.0, 99.0, 99.9, 100.0).map(errors.percentile(_).toString)
    println((Seq(name, machine, f"${errors.count}%,d") ++ percentiles).mkString("| ", " | ", " |"))
  }

  private def run(pattern: Rows => Unit, seconds: Int): Errors = {
    val rows = new Rows
    val end = System.nanoTime() + seconds * 1000000000L
    while (System.nanoTime() < end) pattern(rows)
    rows.errors
  }

  private def pause(fromMs: Int, toMs: Int): Unit =
    LockSupport.parkNanos(ThreadLocalRandom.current.nextLong(fromMs * 1000000L, toMs * 1000000L))

  private def busy(threads: Int): Unit = (1 to threads).foreach { _ =>
    val thread = new Thread(() => { var spins = 0L; while (true) spins += 1 })
    thread.setDaemon(true)
    thread.start()
  }

  private final class Rows {
    val errors = new Errors
    private[this] val clock = new RowClock(SystemClock)

    def take(count: Int): Unit = {
      var i = 0
      while (i < count) {
        val before = System.currentTimeMillis()
        val reading = clock.millis()
        val after = System.currentTimeMillis()
        errors.add(math.max(0, math.max(before - reading, reading - after)))
        i += 1
      }
    }
  }

  /** How many readings were off by how many milliseconds; more than a second counts as one. */
  private final class Errors {
    private[this] val counts = new Array[Long](1001)

    def add(ms: Long): Unit = counts(math.min(ms, 1000).toInt) += 1
    def count: Long = counts.sum

    def percentile(percent: Double): Int = {
      val rank = math.ceil(count * percent / 100)
      counts.scanLeft(0L)(_ + _).tail.indexWhere(_ >= rank)
    }
  }
}
