package org.apache.spark.sql.latency

import java.lang.management.ManagementFactory
import javax.management.ObjectName

import scala.jdk.CollectionConverters._

import io.sparklatency.FiguresSettings
import io.sparklatency.Granularity
import io.sparklatency.LatencyRecorder
import io.sparklatency.ManualClock
import io.sparklatency.Measure
import io.sparklatency.NodeKey
import io.sparklatency.QuerySnapshot
import io.sparklatency.spark.SparkTest

/** What the driver keeps of a batch, by granularity and up to a limit. In Spark's own package for what it is made of. */
class QueryFiguresSuite extends SparkTest {
  private val query = "figures"

  private def owner(node: String) = MarkOwner(NodeKey(query, node), Some("id"), Some("run"))

  private def mark(node: String, subtopology: Int, upstream: String*)(ages: Long*): PlannedMark = {
    val figures = new LatencyAccumulator(owner(node))
    for ((age, partition) <- ages.zipWithIndex) {
      val recorder = new LatencyRecorder(new ManualClock(Start))
      recorder.record((Start - age) * 1000)
      figures.add(Reading(
        partition,
        TaskAttempt(0, partition, partition.toLong),
        planning = 0,
        number = 0,
        recorder.summary(),
        recorder.unpublished
      ))
    }
    PlannedMark(figures, subtopology, upstream.toSet)
  }

  private def shown(settings: FiguresSettings)(marks: PlannedMark*): QuerySnapshot = {
    val source = new LatencySource(clock, settings)(_.stopped)
    source.update(owner("any"))(query => query.add(marks, query.batch(0)))
    try source.snapshot().head
    finally {
      beans =
        ManagementFactory.getPlatformMBeanServer.queryNames(new ObjectName("sparklatency:*"), null).asScala
          .filter(_.getKeyProperty("thread-id").startsWith(query))
          .map(bean => s"${bean.getKeyProperty("task-id")} ${bean.getKeyProperty("processor-node-id")}").toSet
      source.stopped("run")
    }
  }
  private var beans = Set.empty[String]

  private def counts(snapshot: QuerySnapshot): Seq[(String, Long)] =
    snapshot.nodes.map(node => node.id -> node.measures(Measure.E2ELatency).total.records)

  private def pipeline =
    Seq(mark("source", 0)(1, 2), mark("middle", 0, "source")(3, 4), mark("sink", 1, "middle")(5, 6, 7))

  test("at granularity single only the nodes show at which the query ends") {
    assert(counts(shown(FiguresSettings(granularity =
      Granularity.Single
    ))(pipeline: _*)) === Seq("sink" -> 3))
    assert(beans.isEmpty)
  }

  test("at granularity operator every node shows, with those upstream of it") {
    val snapshot = shown(FiguresSettings())(pipeline: _*)
    assert(counts(snapshot) === Seq("source" -> 2, "middle" -> 2, "sink" -> 3))
    assert(snapshot.nodes.map(_.upstream) === Seq(Nil, Seq("source"), Seq("middle")))
    assert(beans.isEmpty)
  }

  test("at granularity subtask there is a bean for each node in each task, and for each task") {
    shown(FiguresSettings(granularity = Granularity.Subtask))(pipeline: _*)
    val nodes = Seq("0_0", "0_1").flatMap(task => Seq(s"$task source", s"$task middle", s"$task null"))
    val ends = Seq("1_0", "1_1", "1_2").flatMap(task => Seq(s"$task sink", s"$task null"))
    assert(beans === (nodes ++ ends).toSet)
  }

  test("nodes beyond the limit are folded into one, and counted") {
    val snapshot = shown(FiguresSettings(maxNodes = 2))(
      (1 to 5).map(n => mark(s"node-$n", 0)(n.toLong)): _*
    )
    assert(counts(snapshot).toMap.values.sum === 5)
    assert(snapshot.nodes.size === 3 && snapshot.nodes.last.id === "__other__" && snapshot.folded === 3)
  }

  test("tasks beyond the limit are folded into one bean") {
    val ages = (1L to 9L).toSeq
    val snapshot =
      shown(FiguresSettings(granularity = Granularity.Subtask, maxNodes = 4))(mark("only", 0)(ages: _*))
    assert(counts(snapshot) === Seq("only" -> 9))
    assert(beans.size === 6 && beans.count(_.startsWith("__other__")) === 2)
    assert(snapshot.folded === 14)
  }

  test("nodes show in the order of their plan, and those of other plans where they were") {
    val source = new LatencySource(clock, FiguresSettings())(_.stopped)
    def batch(marks: PlannedMark*): Unit =
      source.update(owner("any"))(query => query.add(marks, query.batch(0)))
    batch(mark("other", 0)(1))
    batch(mark("sink", 1)(1))
    batch(mark("last", 0)(1))
    batch(mark("source", 0)(1), mark("sink", 1, "source")(1))
    assert(source.snapshot().head.nodes.map(_.id) === Seq("other", "source", "sink", "last"))
    source.stopped("run")
  }
}
