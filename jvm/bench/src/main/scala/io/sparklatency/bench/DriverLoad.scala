package io.sparklatency.bench

import java.io.ByteArrayInputStream
import java.io.ByteArrayOutputStream
import java.io.ObjectInputStream
import java.io.ObjectOutputStream
import java.nio.file.Files
import java.nio.file.Path

import scala.util.Random

import io.sparklatency.figures.BatchTimes
import io.sparklatency.figures.MarkReadings
import io.sparklatency.figures.Measure
import io.sparklatency.figures.Reading
import io.sparklatency.figures.TaskAttempt
import io.sparklatency.figures.TaskSlice
import io.sparklatency.recording.LatencyRecorder
import io.sparklatency.recording.LatencySummary
import io.sparklatency.time.ClockOffset
import io.sparklatency.time.ManualClock

/**
 * What a batch with twenty nodes costs the driver: the memory of what its tasks recorded, the time to merge it, and the time to tell
 * who was at work, of 1,000 partitions and of 10,000. Writes a table.
 */
object DriverLoad {
  private val Nodes = 20
  private val Records = 200
  private val Now = 1790000000000L

  def main(args: Array[String]): Unit = {
    val head = Seq(
      s"| partitions, $Nodes nodes | memory, MB | merging, ms | the first time | who was at work, ms | the first time |",
      "|---:|---:|---:|---:|---:|---:|"
    )
    val table = (head ++ Seq(1000, 10000).map(row)).mkString("\n")
    Files.writeString(Path.of(args.head), s"$table\n")
    println(table)
  }

  private def row(partitions: Int): String = {
    val random = new Random(1)
    val before = used()
    val tasks = Array.tabulate(partitions)(task => arrived(readings(random, task)))
    val batch = (0 until Nodes).map { node =>
      val upstream = Set(s"node-${node - 1}").filter(_ => node > 0)
      MarkReadings(s"node-$node", Measure.E2ELatency, 0, upstream, tasks.map(_(node)))
    }
    val megabytes = (used() - before) / (1 << 20)
    val merged = millis {
      val records = batch.map(mark => LatencySummary.merge(mark.readings.map(_.summary)).records).sum
      require(records == Nodes.toLong * partitions * Records)
    }
    val told = millis {
      val times = BatchTimes.of(0, batch, _ => Some(ClockOffset.Same))
      require(times.exists(_.nodes.size == Nodes))
    }
    f"| $partitions%,d | $megabytes | ${merged.last} | ${merged.head} | ${told.last} | ${told.head} |"
  }

  private def readings(random: Random, task: Int): Array[Reading] = {
    val attempt = TaskAttempt(3, task, task.toLong)
    Array.tabulate(Nodes) { node =>
      val recorder = new LatencyRecorder(new ManualClock(Now))
      for (_ <- 1 to Records)
        recorder.record((Now - math.exp(5 + 1.5 * random.nextGaussian()).toLong) * 1000)
      val (summary, rest) = recorder.seal()
      val slice = TaskSlice("executor", Now * 1000 + task * 5000L, 9, 10, 8, node / 3f)
      Reading(task, attempt, node.toLong, 0, summary, rest, None, slice)
    }
  }

  /** As they come with a task's result: read from bytes of their own. */
  private def arrived(readings: Array[Reading]): Array[Reading] = {
    val bytes = new ByteArrayOutputStream
    val out = new ObjectOutputStream(bytes)
    readings.foreach(_.writeTo(out))
    out.close()
    val in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray))
    readings.map(_ => Reading.readFrom(in))
  }

  private def millis(work: => Unit): Seq[Long] = for (_ <- 1 to 5) yield {
    val start = System.nanoTime()
    work
    (System.nanoTime() - start) / 1000000
  }

  private def used(): Long = {
    for (_ <- 1 to 3) System.gc()
    Runtime.getRuntime.totalMemory - Runtime.getRuntime.freeMemory
  }
}
