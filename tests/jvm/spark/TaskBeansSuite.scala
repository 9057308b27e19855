package io.sparklatency.spark

import java.lang.management.ManagementFactory
import java.sql.Timestamp
import javax.management.ObjectName

import scala.jdk.CollectionConverters._

import io.sparklatency.spark.Lines.LowLatencyMemoryStream
import io.sparklatency.spark.syntax._
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.ListenerBus

/** Figures of each node in each task, as a JMX console sees them. */
class TaskBeansSuite extends StreamingTest with Patient {
  private val server = ManagementFactory.getPlatformMBeanServer

  private def beans(query: String): Map[(String, Option[String]), ObjectName] = {
    ListenerBus.awaitEmpty(spark.sparkContext)
    beansNow(query)
  }

  private def beansNow(query: String): Map[(String, Option[String]), ObjectName] =
    server.queryNames(new ObjectName("sparklatency:thread-id=*,*"), null).asScala
      .filter(name => Beans.key(name, "thread-id").contains(s"$query-driver"))
      .map(name => (name.getKeyProperty("task-id"), Beans.key(name, "processor-node-id")) -> name).toMap

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
      processAll(query)
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
      def named(input: Lines.MemoryStream[Timestamp], id: String) =
        watermarked(input).withE2ELatency(id)
      val both =
        named(one, "one").union(named(two, "two")).repartition(2, col("value")).withE2ELatency("all", "value")
      one.addData(ago(1)) // before the start, so that both are of one batch
      two.addData(ago(2))
      val query = start(both, s"numbered_$adaptive")
      try {
        processAll(query)
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
        processAll(query)
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

  test("an operator that keeps state is a node like any other, whatever its state store is") {
    val provider = "spark.sql.streaming.stateStore.providerClass"
    val rocksDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    for ((store, setting) <- Seq("files" -> None, "rocksdb" -> Some(rocksDB))) withSettings(everything: _*) {
      setting.foreach(spark.conf.set(provider, _))
      val input = stream
      val query = start(newestOfEachSecond(watermarked(input)), store, "update")
      try {
        input.addData(ago(100, 5000))
        processAll(query)
        val nodes = beans(store).collect { case ((_, Some("aggregate-1")), bean) => bean }.toSeq
        assert(nodes.map(_.getKeyProperty("type")).distinct === Seq("stream-processor-node-metrics"))
        assert(nodes.map(attribute(_, "records").asInstanceOf[Long]).sum === 2)
      } finally {
        query.stop()
        // Real-time mode of Spark 4.3 wants none that is set, not even the default one.
        spark.conf.unset(provider)
      }
    }
  }

  test("a bean without a record is NaN, and attributes are Kafka's") {
    val input = stream
    val query = start(marked(input).filter("value IS NULL").withE2ELatency("none", "value"), "silent_bean")
    try {
      input.addData(Seq(new Timestamp(Start)))
      processAll(query)
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
      processAll(query)
      assert(beans("odd ids").keySet.flatMap(_._2) === ids.toSet)
      val gauged = gauges.keySet.collect { case Gauge(name, node) if name == "odd ids" => node }
      assert(gauged === ids.toSet)
      assert(nodesOf("odd ids") === ids)
    } finally query.stop()
    assert(beans("odd ids").isEmpty)
  }

  private def figures(beans: Map[(String, Option[String]), ObjectName]) =
    beans.map { case (place, bean) =>
      place -> ((attribute(bean, "records"), attribute(bean, "record-e2e-latency-max")))
    }

  for (adaptive <- Seq("true", "false"))
    test(
      s"a task that runs shows as it will when it has ended, and counts once, where adaptive planning is $adaptive"
    ) {
      withSettings("spark.sql.adaptive.enabled" -> adaptive, "spark.sparklatency.publish.after" -> "20s") {
        val (input, name) = (stream, s"running_task_$adaptive")
        val records = marked(input).repartition(1).withE2ELatency("all", "value")
        var seen = Seq.empty[Map[(String, Option[String]), (Any, Any)]]
        TaskBeansSuite.look = () => seen :+= figures(beansNow(name))
        val query = start(records.filter(TaskBeansSuite.longAfter(col("value"))), name)
        try {
          input.addData(ago(5, 5, 5))
          processAll(query)
          // A record is shown with the first one that comes more than twenty seconds later.
          def of(task: String, node: String, figures: (Any, Any)) =
            Map((task, Some(node)) -> figures, (task, None: Option[String]) -> figures)
          assert(seen === Seq(
            Map.empty,
            of("1_0", "all", (1L, 5.0)),
            of("1_0", "all", (2L, 21005.0))
          ))
          val ended = figures(beans(name))
          assert(ended.filter(_._1._1 == "1_0") === of("1_0", "all", (3L, 42005.0)))
          assert(ended.collect { case ((_, Some("source")), (count: Long, _)) => count }.sum === 3)
        } finally query.stop()
        assert(beans(name).isEmpty)
      }
    }

  test("in real-time mode tasks are beans before the first batch has ended, and go when the query stops") {
    val input = LowLatencyMemoryStream[Timestamp](spark, 2)
    val nodes = input.toDF().withE2ELatency("first", "value").withE2ELatency("last", "value")
    val query = startInRealTime(nodes, "real_time_beans")
    try {
      input.addData(ago(7, 2))
      eventually(assert(figures(beans("real_time_beans")).toSet === Set(
        ("0_0", Some("first")) -> ((1L, 7.0)),
        ("0_0", Some("last")) -> ((1L, 7.0)),
        ("0_0", None) -> ((1L, 7.0)),
        ("0_1", Some("first")) -> ((1L, 2.0)),
        ("0_1", Some("last")) -> ((1L, 2.0)),
        ("0_1", None) -> ((1L, 2.0))
      )))
      assert(query.lastProgress === null)
    } finally query.stop()
    assert(beans("real_time_beans").isEmpty)
  }

  private object Gauge {
    def unapply(name: String): Option[(String, String)] = name.split('.') match {
      case Array("query", query, "node", node, _) => Some(decoded(query) -> decoded(node))
      case _ => None
    }
    private def decoded(id: String) = java.net.URLDecoder.decode(id, "UTF-8")
  }
}

/** What tasks of this process do for the suite. */
object TaskBeansSuite {
  @volatile private var look: () => Unit = () => ()

  /** Keeps the row, after a look at the beans, and 21 seconds of the clock. */
  private val longAfter = udf { (_: Timestamp) =>
    look()
    SparkTest.clock.advance(21000)
    true
  }.asNondeterministic()
}
