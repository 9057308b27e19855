package org.apache.spark.sql.latency

import java.io.ByteArrayInputStream
import java.io.ByteArrayOutputStream
import java.io.ObjectInputStream
import java.io.ObjectOutputStream
import java.util.Properties

import io.sparklatency.figures.MarkOwner
import io.sparklatency.figures.NodeKey
import io.sparklatency.spark.SparkTest
import org.apache.spark.TaskContext
import org.apache.spark.TaskContextImpl
import org.apache.spark.executor.TaskMetrics
import org.apache.spark.sql.latency.recording.LatencyAccumulator
import org.apache.spark.util.AccumulatorContext
import org.apache.spark.util.AccumulatorMetadata
import org.apache.spark.util.AccumulatorV2

class LatencyAccumulatorSuite extends SparkTest {

  test("a heartbeat that comes while the task is still being read sees nothing, and does not fail") {
    var seen = Seq.empty[Boolean]
    val metrics = new TaskMetrics {
      override def registerAccumulator(accumulator: AccumulatorV2[_, _]): Unit = seen :+= accumulator.isZero
    }
    assert(spark.sparkContext.applicationId.nonEmpty) // a task's context asks for its settings
    val figures = new LatencyAccumulator(MarkOwner(NodeKey("orders", "sink"), None, None))
    figures.metadata = AccumulatorMetadata(AccumulatorContext.newId(), None, countFailedValues = false)
    AccumulatorContext.register(figures)
    val bytes = new ByteArrayOutputStream
    new ObjectOutputStream(bytes).writeObject(figures)
    TaskContext.setTaskContext(new TaskContextImpl(0, 0, 0, 0, 0, 1, null, new Properties, null, metrics))
    try new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray)).readObject()
    finally TaskContext.unset()
    assert(seen === Seq(true))
  }
}
