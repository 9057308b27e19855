package io.sparklatency.bench

import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.ThreadLocalRandom
import java.util.concurrent.locks.LockSupport

import io.sparklatency.time.RowClock
import io.sparklatency.time.SystemClock

/**
 * How far [[RowClock]] is off, in milliseconds, for rows that come in different patterns, on an idle machine and on one whose
 * cores have four busy threads each. The operating system's clock is read right before and right after; a time between
 * those two readings is right. Prints a table in Markdown and writes it to the file that it is given; the budget is 1 ms at the
 * 99.9th percentile, in every line.
 */
object ClockAccuracy {
  private val Seconds = 10
  private val BusyThreadsPerCore = 4

  private final case class Pattern(name: String, everyRow: Boolean = false)(val apply: Rows => Unit)

  private val patterns = Seq(
    Pattern("one row after another, no pause")(_.take(1000)),
    Pattern("one row, then a pause of 0 to 5 ms") { rows => rows.take(1); pause(0, 5) },
    Pattern("1,000 rows, then a pause of 1 to 20 ms") { rows => rows.take(1000); pause(1, 20) },
    Pattern("the same, read for every row as in real-time mode", everyRow = true) { rows =>
      rows.take(1000)
      pause(1, 20)
    }
  )

  def main(args: Array[String]): Unit = {
    val head =
      Seq("| rows | machine | readings | p50 ms | p99 | p99.9 | max |", "|---|---|---:|---:|---:|---:|---:|")
    val idle = measureAll("idle")
    busy(BusyThreadsPerCore * Runtime.getRuntime.availableProcessors)
    val table = head ++ idle ++ measureAll(s"$BusyThreadsPerCore busy threads a core")
    args.foreach(file => Files.writeString(Path.of(file), table.mkString("", "\n", "\n")))
  }

  private def measureAll(machine: String): Seq[String] = patterns.map { pattern =>
    run(pattern, seconds = 1)
    val errors = run(pattern, Seconds)
    val percentiles = Seq(50.0, 99.0, 99.9, 100.0).map(errors.percentile(_).toString)
    val line = (Seq(pattern.name, machine, f"${errors.count}%,d") ++ percentiles).mkString("| ", " | ", " |")
    println(line)
    line
  }

  private def run(pattern: Pattern, seconds: Int): Errors = {
    val rows = new Rows(pattern.everyRow)
    val end = System.nanoTime() + seconds * 1000000000L
    while (System.nanoTime() < end) pattern.apply(rows)
    rows.errors
  }

  private def pause(fromMs: Int, toMs: Int): Unit =
    LockSupport.parkNanos(ThreadLocalRandom.current.nextLong(fromMs * 1000000L, toMs * 1000000L))

  private def busy(threads: Int): Unit = (1 to threads).foreach { _ =>
    val thread = new Thread(() => { var spins = 0L; while (true) spins += 1 })
    thread.setDaemon(true)
    thread.start()
  }

  private final class Rows(everyRow: Boolean) {
    val errors = new Errors
    private[this] val clock = new RowClock(SystemClock, everyRow)

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
