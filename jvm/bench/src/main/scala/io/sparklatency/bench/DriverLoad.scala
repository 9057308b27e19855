package io.sparklatency.bench

import scala.util.Random

import io.sparklatency.recording.LatencyRecorder
import io.sparklatency.recording.LatencySummary
import io.sparklatency.time.ManualClock

/**
 * What a batch of 10,000 partitions with twenty nodes costs the driver: the memory of what its tasks recorded, and the time to
 * merge it. Prints one line.
 */
object DriverLoad {
  private val Nodes = 20
  private val Partitions = 10000
  private val Records = 200
  private val Now = 1790000000000L

  def main(args: Array[String]): Unit = {
    val random = new Random(1)
    def summary(): LatencySummary = {
      val recorder = new LatencyRecorder(new ManualClock(Now))
      for (_ <- 1 to Records) recorder.record((Now - math.exp(5 + 1.5 * random.nextGaussian()).toLong) * 1000)
      recorder.summary()
    }
    val before = used()
    // As they arrive: each decoded from its own bytes, nothing shared.
    val batch = Array.fill(Nodes, Partitions)(LatencySummary.fromBytes(summary().toBytes))
    val megabytes = (used() - before) / (1 << 20)
    val millis = for (_ <- 1 to 5) yield {
      val start = System.nanoTime()
      val records = batch.map(node => LatencySummary.merge(node).records).sum
      require(records == Nodes.toLong * Partitions * Records)
      (System.nanoTime() - start) / 1000000
    }
    println(
      s"$Partitions partitions x $Nodes nodes: $megabytes MB, merged in ${millis.last} ms (first: ${millis.head} ms)"
    )
  }

  private def used(): Long = {
    for (_ <- 1 to 3) System.gc()
    Runtime.getRuntime.totalMemory - Runtime.getRuntime.freeMemory
  }
}
