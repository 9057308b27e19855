package org.apache.spark.sql.latency

import java.lang.management.ManagementFactory

import scala.util.Random

import io.sparklatency.figures.Batch
import io.sparklatency.figures.Measure
import io.sparklatency.figures.NodeLatencies
import io.sparklatency.recording.LatencyRecorder
import io.sparklatency.recording.LatencySummary
import io.sparklatency.spark.Sampled
import io.sparklatency.spark.SparkTest
import io.sparklatency.spark.Ui
import io.sparklatency.time.ManualClock
import org.apache.spark.sql.latency.application.LatencyApplication
import org.apache.spark.sql.latency.history.BatchArchive

/** A run of as many batches as are kept, of many nodes. How long its pages take is told, and is not a condition. */
class LongHistorySuite extends SparkTest with Sampled with Ui {
  private val (nodes, batches) = (200, if (sample.isFull) 1000 else 100)
  private val random = new Random(1)
  private val process =
    ManagementFactory.getOperatingSystemMXBean.asInstanceOf[com.sun.management.OperatingSystemMXBean]

  private def summary(atMs: Long): LatencySummary = {
    val recorder = new LatencyRecorder(new ManualClock(atMs))
    for (_ <- 1 to 100) recorder.record((atMs - math.exp(5 + 1.5 * random.nextGaussian()).toLong) * 1000)
    recorder.summary()
  }

  private def timed(path: String): String = {
    val (start, before) = (System.nanoTime(), process.getProcessCpuTime)
    val page = fetched(path)
    val (wall, cpu) = ((System.nanoTime() - start) / 1000000, (process.getProcessCpuTime - before) / 1000000)
    info(s"$path: $wall ms, $cpu ms of processors' time in the whole process, ${page.length / 1024} KB")
    page
  }

  test(s"$batches batches of $nodes nodes are shown") {
    LatencyApplication.running(spark.sparkContext)
    val store = new BatchArchive(spark.sparkContext.statusStore.store, batches)
    val some = Seq.fill(50)(summary(Start))
    for (batch <- 1 to batches) {
      val records = (0 until nodes).map { i =>
        val upstream = if (i < 20) Nil else Seq(s"node-${i - 20}")
        NodeLatencies(s"node-$i", upstream, Map(Measure.E2ELatency -> some(random.nextInt(some.size))))
      }
      val committed = Start + batch * 1000L
      store.onOtherEvent(SparkListenerLatencyBatch(
        Batch(
          "long",
          None,
          Some("long-run"),
          batch.toLong,
          committed - 900,
          committed,
          100,
          Map.empty,
          None,
          Nil,
          0,
          records
        )
      ))
    }
    timed("/jobs/") // Spark's own: what the first page of all takes
    for (_ <- 1 to 3) timed("/latency/")
    for (_ <- 1 to 10) {
      val page = timed("/latency/query/?id=long-run")
      assert("latency-chart\"".r.findAllIn(page).size === 4)
      assert(page.contains("batches · run long-run · "), "how the run goes no event has told")
    }
    assert(timed("/latency/query/?id=long-run&node=node-7").contains("<h5><span>node-7</span></h5>"))
  }
}
