package org.apache.spark.sql.latency

import java.io.ByteArrayInputStream
import java.io.ByteArrayOutputStream
import java.io.ObjectInputStream
import java.io.ObjectOutputStream
import java.lang.ref.WeakReference
import java.util.Properties
import java.util.concurrent.CompletableFuture
import java.util.concurrent.TimeUnit

import io.sparklatency.figures.MarkOwner
import io.sparklatency.figures.NodeKey
import io.sparklatency.figures.TaskPlace
import io.sparklatency.recording.LatencyRecorder
import io.sparklatency.recording.LatencySummary
import io.sparklatency.spark.Logged
import io.sparklatency.spark.Patience
import io.sparklatency.spark.Patient
import io.sparklatency.spark.SparkTest
import org.apache.spark.TaskContext
import org.apache.spark.TaskContextImpl
import org.apache.spark.executor.TaskMetrics
import org.apache.spark.sql.latency.recording.LatencyAccumulator
import org.apache.spark.sql.latency.recording.TaskFigures
import org.apache.spark.util.AccumulatorContext
import org.apache.spark.util.AccumulatorMetadata
import org.apache.spark.util.AccumulatorV2

class LatencyAccumulatorSuite extends SparkTest with Patient {

  test("a heartbeat that comes while the task is still being read sees nothing, and does not fail") {
    var seen = Seq.empty[Boolean]
    val metrics = new TaskMetrics {
      override def registerAccumulator(accumulator: AccumulatorV2[_, _]): Unit = seen :+= accumulator.isZero
    }
    inTask(new Properties, metrics)(_ => ())
    assert(seen === Seq(true))
  }

  test("in continuous mode an epoch that begins gives out what the one before has left, and lets it go") {
    Published.records = 0
    val properties = new Properties
    properties.setProperty("__is_continuous_processing", "true")
    inTask(properties, new TaskMetrics) { figures =>
      var first = figures.open(partition = 0)
      (1 to 7).foreach(_ => first.record(Start * 1000))
      val held = new WeakReference(first)
      first = null
      figures.open(partition = 0)
      assert(Published.records === 7)
      figures.open(partition = 1)
      assert(Published.records === 7)
      eventually {
        System.gc()
        assert(held.get == null)
      }
    }
  }

  test("code that asks once for each branch of a union gets one recorder, until it has read the partition") {
    val figures = new LatencyAccumulator(MarkOwner(NodeKey("orders", "sink"), None, None))
    val reader = new Object
    val first = figures.openOnce(partition = 0, reader)
    assert(figures.openOnce(partition = 0, reader) eq first)
    assert(figures.openOnce(partition = 1, reader) ne first)
    val next = figures.openOnce(partition = 0, reader)
    assert(next ne first)
    next.record(Start * 1000)
    assert(figures.openOnce(partition = 0, reader) ne next)
  }

  test("code of another reader gets a recorder of its own, though both open before they read") {
    val figures = new LatencyAccumulator(MarkOwner(NodeKey("orders", "sink"), None, None))
    val (left, right) = (new Object, new Object)
    val first = figures.openOnce(partition = 0, left)
    assert(figures.openOnce(partition = 0, right) ne first)
  }

  test("what a thread opens when its task is over is not kept") {
    var late = Seq.empty[WeakReference[LatencyRecorder]]
    inTask(new Properties, new TaskMetrics) { figures =>
      figures.open(partition = 0)
      TaskContext.get().asInstanceOf[TaskContextImpl].markTaskCompleted(None)
      late = Seq(0, 1).map(partition => new WeakReference(figures.open(partition)))
    }
    eventually {
      System.gc()
      assert(late.map(_.get) === Seq(null, null))
    }
  }

  test("a thread that reads for the task's tells the end of a partition while the task opens others") {
    val figures = new LatencyAccumulator(MarkOwner(NodeKey("orders", "sink"), None, None))
    val first = figures.open(partition = 0)
    @volatile var goesOn = true
    val reading = CompletableFuture.runAsync(() => while (goesOn) figures.ended(first))
    try for (partition <- 1 to 10000) figures.open(partition)
    finally goesOn = false
    reading.get(Patience.Seconds, TimeUnit.SECONDS)
  }

  test("a class that is missing as a task ends does not fail it, and what it has recorded stands") {
    var brought = Option.empty[LatencyAccumulator]
    val logged = Logged.during {
      inTask(new Properties, new TaskMetrics, Unshown) { figures =>
        figures.open(partition = 0).record(Start * 1000)
        brought = Some(figures)
      }
    }
    assert(logged.count(_.contains("latencies of node 'sink' in task 0 are lost")) === 1)
    assert(brought.get.value(0).summary.records === 1)
  }

  /** As an executor does it: the accumulator comes with the task. */
  private def inTask(properties: Properties, metrics: TaskMetrics, shown: TaskFigures = Published)(
      run: LatencyAccumulator => Unit
  ): Unit = {
    assert(spark.sparkContext.applicationId.nonEmpty) // a task's context asks for its settings
    val owner = MarkOwner(NodeKey("orders", "sink"), None, None)
    val figures = new LatencyAccumulator(owner, publishMs = 60000, figures = shown, hasBatches = false)
    figures.metadata = AccumulatorMetadata(AccumulatorContext.newId(), None, countFailedValues = false)
    AccumulatorContext.register(figures)
    val bytes = new ByteArrayOutputStream
    new ObjectOutputStream(bytes).writeObject(figures)
    val task = new TaskContextImpl(0, 0, 0, 0, 0, 1, null, properties, null, metrics)
    TaskContext.setTaskContext(task)
    try run(
        new ObjectInputStream(
          new ByteArrayInputStream(bytes.toByteArray)
        ).readObject().asInstanceOf[LatencyAccumulator]
      )
    finally {
      task.markTaskCompleted(None)
      TaskContext.unset()
    }
  }
}

/** Counts what is published in this process. */
object Published extends TaskFigures {
  @volatile var records = 0L
  override def add(
      owner: MarkOwner,
      planning: Long,
      task: Option[TaskPlace],
      summary: LatencySummary
  ): Unit =
    records += summary.records
}

/** Finds a class missing, as where the jar is another Spark line's. */
object Unshown extends TaskFigures {
  override def add(
      owner: MarkOwner,
      planning: Long,
      task: Option[TaskPlace],
      summary: LatencySummary
  ): Unit =
    throw new NoClassDefFoundError("org/apache/spark/Moved")
}
