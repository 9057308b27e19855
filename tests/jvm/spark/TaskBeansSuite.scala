package io.sparklatency.spark

import java.lang.management.ManagementFactory
import java.sql.Timestamp
import javax.management.ObjectName

import scala.jdk.CollectionConverters._

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.ListenerBus

/** Figures of each node in each task, as a JMX console sees them. */
class TaskBeansSuite extends StreamingTest {
  private val server = ManagementFactory.getPlatformMBeanServer

  private def beans(query: String): Map[(String, Option[String]), ObjectName] = {
    ListenerBus.awaitEmpty(spark.sparkContext)
    def text(name: ObjectName, key: String) =
      Option(name.getKeyProperty(key)).map(value =>
        if (value.startsWith("\"")) ObjectName.unquote(value) else value
      )
    server.queryNames(new ObjectName("sparklatency:*"), null).asScala
      .filter(name => text(name, "thread-id").contains(s"$query-driver"))
      .map(name => (name.getKeyProperty("task-id"), text(name, "processor-node-id")) -> name).toMap
  }

  private def attribute(bean: ObjectName, name: String): Any = server.getAttribute(bean, name)

  test(
    "each node in each task is a bean, tasks are numbered along the shuffles, and all go when the query stops"
  ) {
    val input = stream
    val windows = newestOfEachSecond(marked(input).repartition(2))
    val sink =
      windows.withE2ELatency("windowed", "last").filter("last IS NOT NULL").withE2ELatency("sink", "last")
    val query = start(sink, "beans", "complete")
    try {
      input.addData(ago(100))
      input.addData(ago(250, 5000))
      query.processAllAvailable()
      val all = beans("beans")
      assert(all.keySet.map { case (task, node) => task.takeWhile(_ != '_') -> node } ===
        Set("0" -> Some("source"), "0" -> None, "2" -> Some("windowed"), "2" -> Some("sink"), "2" -> None))
      val sources = all.collect { case ((task, Some("source")), bean) => task -> bean }
      assert(sources.values.map(attribute(_, "records").asInstanceOf[Long]).sum === 3)
      assert(sources.values.map(attribute(_, "record-e2e-latency-max").asInstanceOf[Double]).max === 5000.0)
      for (((task, None), bean) <- all) {
        val last = all(task -> Some(if (task.startsWith("0")) "source" else "sink"))
        for (
          name <- Seq("records", "record-e2e-latency-min", "record-e2e-latency-avg", "record-e2e-latency-max")
        )
          assert(attribute(bean, name).toString === attribute(last, name).toString, s"$name of task $task")
      }
      // In each task a window is as old as its newest record: no younger than the youngest upstream.
      val least = (node: String) =>
        all.collect { case ((_, Some(`node`)), bean) =>
          attribute(bean, "record-e2e-latency-min").asInstanceOf[Double]
        }.filterNot(_.isNaN).min
      assert(least("source") <= least("windowed") && least("windowed") <= least("sink"))
    } finally query.stop()
    assert(beans("beans").isEmpty)
  }

  test("tasks are numbered the same whether a query is planned adaptively or not, and are Spark's tasks") {
    for (adaptive <- Seq("true", "false")) withSettings("spark.sql.adaptive.enabled" -> adaptive) {
      val (one, two) = (stream, stream)
      def named(input: org.apache.spark.sql.execution.streaming.runtime.MemoryStream[Timestamp], id: String) =
        watermarked(input).withE2ELatency(id)
      val both =
        named(one, "one").union(named(two, "two")).repartition(2, col("value")).withE2ELatency("all", "value")
      one.addData(ago(1)) // before the start, so that both are of one batch
      two.addData(ago(2))
      val query = start(both, s"numbered_$adaptive")
      try {
        query.processAllAvailable()
        val tasks = beans(s"numbered_$adaptive").keySet.collect { case (task, Some(node)) => node -> task }
        assert(tasks.filterNot(_._1 == "all") === Set("one" -> "0_0", "two" -> "0_1"))
        assert(tasks.collect { case ("all", task) => task.takeWhile(_ != '_') } === Set("1"))
      } finally query.stop()
    }
  }

  test("a task that ends where an operator takes records in is as its last node that gives some out") {
    withSettings(everything: _*) {
      val input = stream
      val counted = newestOfEachSecond(watermarked(input))
      val query = start(counted, "intake_bean", "update")
      try {
        input.addData(ago(100, 5000))
        query.processAllAvailable()
        val first = beans("intake_bean").filter { case ((task, _), _) => task.startsWith("0_") }
        val (wholes, nodes) = first.partition { case ((_, node), _) => node.isEmpty }
        def records(beans: Map[(String, Option[String]), ObjectName]) =
          beans.map { case ((task, _), bean) => task -> attribute(bean, "records") }
        assert(nodes.keySet.flatMap(_._2) === Set("source-0-memory"))
        assert(records(wholes) === records(nodes))
        assert(records(wholes).values.map(_.asInstanceOf[Long]).sum === 2)
      } finally query.stop()
    }
  }

  test("a bean without a record is NaN, and attributes are Kafka's") {
    val input = stream
    val query = start(marked(input).filter("value IS NULL").withE2ELatency("none", "value"), "silent_bean")
    try {
      input.addData(Seq(new Timestamp(Start)))
      query.processAllAvailable()
      val bean = beans("silent_bean").collectFirst { case ((_, Some("none")), bean) => bean }.get
      assert(attribute(bean, "record-e2e-latency-max").asInstanceOf[Double].isNaN)
      assert(attribute(bean, "records") === 0L)
      val names = server.getMBeanInfo(bean).getAttributes.map(_.getName).toSet
      assert(Set("min", "avg", "max", "p50", "p99").map("record-e2e-latency-" + _).subsetOf(names))
    } finally query.stop()
  }

  test("ids of any characters survive the way to a bean, to a gauge and back") {
    val ids =
      Seq("a,b=c:d\"e", "*?\\", "plain", "clicks.enriched/é 日本", "line\nbreak", "\"quoted\"", "%41", "A")
    val input = stream
    val query = start(ids.foldLeft(watermarked(input))((df, id) => df.withE2ELatency(id)), "odd ids")
    try {
      input.addData(ago(1))
      query.processAllAvailable()
      assert(beans("odd ids").keySet.flatMap(_._2) === ids.toSet)
      val gauged = gauges.keySet.collect { case Gauge(name, node) if name == "odd ids" => node }
      assert(gauged === ids.toSet)
      assert(nodesOf("odd ids") === ids)
    } finally query.stop()
    assert(beans("odd ids").isEmpty)
  }

  private object Gauge {
    def unapply(name: String): Option[(String, String)] = name.split('.') match {
      case Array("query", query, "node", node, _) => Some(decoded(query) -> decoded(node))
      case _ => None
    }
    private def decoded(id: String) = java.net.URLDecoder.decode(id, "UTF-8")
  }
}
