package org.apache.spark.sql.latency

import java.lang.management.ManagementFactory
import javax.management.ObjectName

import scala.jdk.CollectionConverters._

import io.sparklatency.LatencyPlugin
import io.sparklatency.figures.FiguresSettings
import io.sparklatency.figures.Granularity
import io.sparklatency.figures.LiveRuns
import io.sparklatency.figures.MarkOwner
import io.sparklatency.figures.Measure
import io.sparklatency.figures.NodeKey
import io.sparklatency.figures.PublishedPart
import io.sparklatency.figures.ReadingId
import io.sparklatency.figures.TaskId
import io.sparklatency.figures.TaskPlace
import io.sparklatency.recording.LatencyRecorder
import io.sparklatency.recording.LatencySummary
import io.sparklatency.spark.StreamingTest
import org.apache.spark.sql.latency.metrics.DropwizardSource
import org.apache.spark.sql.latency.metrics.ExecutorFigures
import org.apache.spark.sql.latency.recording.EndedQuestion
import org.apache.spark.sql.latency.recording.PublishedMessage

/** What an executor shows of its tasks, and how it learns that it is over. In Spark's package for its own. */
class ExecutorBeansSuite extends StreamingTest {
  private val server = ManagementFactory.getPlatformMBeanServer
  private val owner = MarkOwner(NodeKey("on_executor", "sink"), Some("id"), Some("run"))
  private val place = TaskPlace(TaskId(1, 3), isLast = true)

  private def summary(ages: Long*): LatencySummary = {
    val recorder = new LatencyRecorder(clock)
    ages.foreach(age => recorder.record((clock.millis() - age) * 1000))
    recorder.summary()
  }

  /** By type and task: how many records, and the age of the oldest. */
  private def beans: Map[(String, String), (Any, Any)] =
    server.queryNames(new ObjectName("sparklatency:thread-id=*,*"), null).asScala
      .filter(_.getKeyProperty("thread-id").startsWith("on_executor-"))
      .map { name =>
        def attribute(metric: String) = server.getAttribute(name, metric)
        (name.getKeyProperty("type"), name.getKeyProperty("task-id")) ->
          ((attribute("records"), attribute("record-e2e-latency-max")))
      }.toMap

  private def runs(granularity: Granularity) =
    new LiveRuns(clock, FiguresSettings(granularity = granularity), new DropwizardSource.OfExecutor)(_ =>
      true
    )

  test("an executor has a bean for each task, whose figures come while it runs; all go with the query") {
    val figures = runs(Granularity.Subtask)
    ExecutorFigures.add(figures, owner, 1, Some(place), summary(5, 9))
    val (node, task) = ("stream-processor-node-metrics" -> "1_3", "stream-task-metrics" -> "1_3")
    assert(beans === Map(node -> ((2L, 9.0)), task -> ((2L, 9.0))))
    ExecutorFigures.add(figures, owner, 1, Some(place), summary(30))
    assert(beans === Map(node -> ((3L, 30.0)), task -> ((3L, 30.0))))
    assert(figures.running === Seq("run"))
    figures.stopped("run")
    assert(beans.isEmpty && figures.running.isEmpty)
  }

  test("no bean is left when the application ends") {
    val figures = runs(Granularity.Subtask)
    ExecutorFigures.add(figures, owner, 1, Some(place), summary(5))
    assert(beans.size === 2)
    figures.close()
    assert(beans.isEmpty)
  }

  test("a task that ends after its query brings no bean back") {
    val figures = runs(Granularity.Subtask)
    ExecutorFigures.add(figures, owner, 1, Some(place), summary(5))
    figures.stopped("run")
    ExecutorFigures.add(figures, owner, 1, Some(place.copy(id = TaskId(1, 4))), summary(5))
    assert(beans.isEmpty)
  }

  test("a task that ends after the next run of its query has begun leaves the figures of that alone") {
    val figures = runs(Granularity.Operator)
    val next = owner.copy(runId = Some("next"))
    def add(owner: MarkOwner, planning: Long, ages: Long*) =
      ExecutorFigures.add(figures, owner, planning, None, summary(ages: _*))
    def shown = figures.snapshot().map(run =>
      run.runId -> run.nodes.map(_.measures(Measure.E2ELatency).total.records)
    )
    add(owner, 1, 5)
    add(next, 2, 6, 7)
    add(owner, 1, 8)
    assert(shown === Seq(Some("next") -> Seq(2)))
    add(next, 3, 9)
    assert(shown === Seq(Some("next") -> Seq(3)))
  }

  test("an executor has no beans of tasks unless they are asked for") {
    ExecutorFigures.add(runs(Granularity.Operator), owner, 1, Some(place), summary(5))
    assert(beans.isEmpty)
  }

  test("how a query as a whole goes only its driver says") {
    val source = new DropwizardSource.OfExecutor
    ExecutorFigures.add(new LiveRuns(clock, FiguresSettings(), source)(_ => true), owner, 1, None, summary(5))
    val names = source.metricRegistry.getNames.asScala
    assert(names.contains("query.on_executor.node.sink.records"))
    assert(names.filterNot(_.contains(".node.")).isEmpty)
  }

  test("a message to the driver brings the task") {
    for (task <- Seq(Some(place), Some(TaskPlace(TaskId(0, 0), isLast = false)), None)) {
      val part = PublishedPart(owner, ReadingId(1, 2, 3, 4), endless = false, summary(7), Some(4), task)
      val PublishedMessage(read) = PublishedMessage(part): @unchecked
      assert((read.task, read.reading, read.oldestMs) === ((task, part.reading, part.oldestMs)))
    }
  }

  test("the driver answers which queries have ended") {
    val driver = new LatencyPlugin().driverPlugin()
    def ended(runs: String*) = driver.receive(EndedQuestion(runs.toArray)) match {
      case runs: Array[String] => runs.toSeq
      case other => fail(s"$other is no answer")
    }
    val input = stream
    val query = start(marked(input), "ends")
    val run = query.runId.toString
    try {
      input.addData(ago(1))
      processAll(query)
      assert(ended(run, "unknown") === Nil)
    } finally query.stop()
    ListenerBus.awaitEmpty(spark.sparkContext)
    assert(ended("unknown", run) === Seq(run))
  }
}
