package org.apache.spark.sql.latency.recording

import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit

import io.sparklatency.recording.LatencyRecorder
import io.sparklatency.recording.LatencySummary
import io.sparklatency.spark.Patience
import io.sparklatency.spark.SparkTest
import io.sparklatency.spark.syntax._
import io.sparklatency.time.ManualClock

/** The thread that looks at the tasks of a process. In Spark's package for what only ours may call. */
class RunningTasksSuite extends SparkTest {

  /** Of the tasks that run. */
  private def watches: java.util.Map[_, _] = {
    val field = RunningTasks.getClass.getDeclaredField("watches")
    field.setAccessible(true)
    field.get(RunningTasks).asInstanceOf[java.util.Map[_, _]]
  }

  test("of a task of a barrier stage nothing is left when it has ended, while others run") {
    val running = silent(_ => ())
    try {
      val marked =
        spark.range(0, 10, 1, 1).selectExpr("timestamp_millis(id) AS ts").withE2ELatency(freshNode(), "ts")
      assert(marked.rdd.barrier().mapPartitions(identity).count() === 10)
      assert(watches.isEmpty)
    } finally RunningTasks.replaced(running)
  }

  private def silent(publish: LatencySummary => Unit): LatencyRecorder = {
    val recorder = new LatencyRecorder(new ManualClock(1000), (part, _) => publish(part), publishNanos = 1)
    recorder.record(0)
    RunningTasks.opened(recorder)
    recorder
  }

  test("a class that is missing where one task publishes does not end the looks at all others") {
    val (tried, published) =
      (new LinkedBlockingQueue[LatencySummary], new LinkedBlockingQueue[LatencySummary])
    val broken = silent { part =>
      tried.put(part)
      throw new NoClassDefFoundError("org/apache/spark/Moved")
    }
    try {
      assert(tried.poll(Patience.Seconds, TimeUnit.SECONDS) != null)
      val well = silent(published.put)
      try assert(published.poll(Patience.Seconds, TimeUnit.SECONDS) != null)
      finally RunningTasks.replaced(well)
    } finally {
      RunningTasks.replaced(broken)
      RunningTasks.sendBy(_ => ()) // what fails next is told
      RunningTasks.stopSending()
    }
  }

  test("after an error from which its thread cannot go on the next task begins another") {
    val (ended, published) = (new LinkedBlockingQueue[Thread], new LinkedBlockingQueue[LatencySummary])
    val broken = silent { _ =>
      val thread = Thread.currentThread
      thread.setUncaughtExceptionHandler((_, _) => ()) // it is on purpose
      ended.put(thread)
      throw new StackOverflowError("on purpose")
    }
    try {
      val thread = ended.poll(Patience.Seconds, TimeUnit.SECONDS)
      assert(thread != null)
      thread.join(Patience.Millis)
      val well = silent(published.put)
      try assert(published.poll(Patience.Seconds, TimeUnit.SECONDS) != null)
      finally RunningTasks.replaced(well)
    } finally RunningTasks.replaced(broken)
  }
}
