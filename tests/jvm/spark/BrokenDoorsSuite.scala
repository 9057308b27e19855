package io.sparklatency.spark

import java.lang.management.ManagementFactory
import javax.management.ObjectName

import scala.jdk.CollectionConverters._

import io.sparklatency.LatencyPlugin
import io.sparklatency.figures.MarkOwner
import io.sparklatency.figures.NodeKey
import io.sparklatency.figures.PublishedPart
import io.sparklatency.figures.ReadingId
import io.sparklatency.recording.LatencyRecorder
import io.sparklatency.spark.syntax._
import io.sparklatency.time.Clock
import io.sparklatency.time.WallClock
import org.apache.spark.SparkEnv
import org.apache.spark.sql.functions.lit
import org.apache.spark.sql.latency.BrokenChannel
import org.apache.spark.sql.latency.ListenerBus
import org.apache.spark.sql.latency.UiFaults
import org.apache.spark.sql.streaming.StreamingQuery

/** Whatever door to the figures breaks, the query goes on, and what it measured is there once the door is mended. */
class BrokenDoorsSuite extends StreamingTest with Ui {

  /** A clock that fails in some threads: whoever reads figures there fails. */
  private final class FailingClock(fails: Thread => Boolean) extends Clock {
    override def readEveryRow: Boolean = true
    override def millis(): Long =
      if (fails(Thread.currentThread)) throw new IllegalStateException("broken on purpose")
      else clock.millis()
    override def at(systemMillis: Long): Long = clock.at(systemMillis)
  }

  private def withBrokenReading(fails: Thread => Boolean)(body: => Unit): Unit = {
    WallClock.install(new FailingClock(fails))
    try body
    finally WallClock.install(clock)
  }

  /** A query that has a batch before the door breaks, one while it is broken, and one after it was mended. */
  private def withQuery(name: String, counted: Long = 3)(
      whileBroken: (StreamingQuery, () => Unit) => Unit
  ): Unit = {
    val input = stream
    val query = start(marked(input).withE2ELatency("sink"), name)
    def batch(): Unit = {
      input.addData(ago(7))
      processAll(query)
    }
    try {
      batch()
      whileBroken(query, () => batch())
      batch()
      assert(query.isActive && query.exception.isEmpty)
      val sink = node("sink", name)
      assert((sink.records, sink.max) === ((counted, Some(7))))
    } finally query.stop()
  }

  private def isTestThread: Thread => Boolean = {
    val own = Thread.currentThread
    _ eq own
  }

  for (
    (what, path) <- Seq(
      "all queries" -> "",
      "a query" -> "/queries/broken_rest",
      "its batches" -> "/queries/broken_rest/batches",
      "Prometheus' text" -> "/prometheus"
    )
  )
    test(s"REST that fails to give $what leaves the query alone") {
      withQuery("broken_rest") { (_, batch) =>
        UiFaults.withBrokenStore(spark.sparkContext) {
          withBrokenReading(_.getName.startsWith("SparkUI-")) {
            assert(get(s"/api/v1/latency$path")._1 === 500)
            batch()
          }
        }
        assert(get(s"/api/v1/latency$path")._1 === 200)
      }
    }

  test("the table that SQL fails to give leaves the query alone") {
    withQuery("broken_sql") { (_, batch) =>
      UiFaults.withBrokenStore(spark.sparkContext) {
        intercept[Exception](spark.sql("SELECT * FROM e2e_latency()").collect())
        batch()
      }
      assert(spark.sql("SELECT * FROM e2e_latency() WHERE query = 'broken_sql'").count() === 2)
    }
  }

  test("figures that Python fails to get leave the query alone") {
    withQuery("broken_python") { (_, batch) =>
      UiFaults.withBrokenStore(spark.sparkContext) {
        intercept[Exception](PythonApi.latencyJson(spark, null))
        batch()
      }
    }
  }

  test("MBeans and gauges that fail leave the query alone") {
    val server = ManagementFactory.getPlatformMBeanServer
    withQuery("broken_jmx") { (_, batch) =>
      val beans = server.queryNames(new ObjectName("sparklatency:thread-id=*,*"), null).asScala
        .filter(_.getKeyProperty("thread-id") == "broken_jmx-driver")
      val gauges = SparkEnv.get.metricsSystem.getSourcesByName("sparklatency")
        .flatMap(_.metricRegistry.getGauges.asScala).filter(_._1.startsWith("query.broken_jmx."))
        .filterNot(_._1.contains(".operator-latency")) // these read no clock
      assert(beans.nonEmpty && gauges.nonEmpty)
      withBrokenReading(isTestThread) {
        for (bean <- beans) intercept[Exception](server.getAttribute(bean, "records"))
        // A sink tells nothing more of what comes behind a gauge that throws, also of Spark's own.
        for ((name, gauge) <- gauges) assert(gauge.getValue.toString === "NaN", name)
        batch() // the query's own threads read the clock as ever
      }
      for (bean <- beans) assert(server.getAttribute(bean, "records") !== null)
    }
  }

  test(
    "beans and gauges that are asked for after the application has let them go answer, and break nothing"
  ) {
    val server = ManagementFactory.getPlatformMBeanServer
    var gauge: () => Any = () => None
    withQuery("gone_jmx", counted = 2) { (_, _) =>
      val bean = server.queryNames(new ObjectName("sparklatency:thread-id=*,*"), null).asScala
        .find(_.getKeyProperty("thread-id") == "gone_jmx-driver").get
      val records = SparkEnv.get.metricsSystem.getSourcesByName("sparklatency").head
        .metricRegistry.getGauges.get("query.gone_jmx.node.sink.records")
      gauge = () => (records.getValue, server.isRegistered(bean))
    }
    ListenerBus.awaitEmpty(spark.sparkContext) // the query's end is among its events
    assert(gauge() === ((2L, false)), "a sink that still holds the gauge may read it")
  }

  test("messages from executors that nobody can read leave the query and the driver alone") {
    val driver = new LatencyPlugin().driverPlugin()
    val recorder = new LatencyRecorder(clock)
    recorder.record(0)
    withQuery("broken_rpc") { (query, batch) =>
      val owner =
        MarkOwner(NodeKey("broken_rpc", "sink"), Some(query.id.toString), Some(query.runId.toString))
      val part = PublishedPart(owner, ReadingId(-1, -2, 3, 4), endless = false, recorder.summary(), None)
      val logged = Logged.during {
        for (message <- Seq[AnyRef](null, "text", Array.empty[AnyRef], BrokenChannel.corrupted(part)))
          assert(driver.receive(message) === null)
        withBrokenReading(isTestThread)(assert(driver.receive(BrokenChannel.message(part)) === null))
        batch()
      }
      assert(logged.count(_.contains("figures of a running task are lost")) === 2)
    }
  }

  test("a channel to the driver that fails leaves tasks alone, and the log says so once of each") {
    withSettings("spark.sparklatency.publish.after" -> "20s") {
      latencyOf(null) // makes the application, which would else begin to receive within
      BrokenChannel.during {
        for (name <- Seq("broken_channel", "next_broken_channel")) {
          val before = BrokenChannel.failures
          BrokenChannel.open()
          val logged = Logged.during {
            val (input, halfAMinute) = (stream, slow(30000))
            val records = marked(input).repartition(1).withE2ELatency("all", "value")
            val query = start(records.filter(halfAMinute(lit(1L)) > 0), name)
            try
              for (batch <- 1 to 2) {
                input.addData(ago(5, 5, 5))
                processAll(query)
                assert(query.isActive && query.exception.isEmpty)
                assert(node("all", name).records === 3 * batch)
              }
            finally query.stop()
          }
          assert(logged.count(_.contains("Figures of running tasks do not reach the driver")) === 1)
          assert(BrokenChannel.failures > before + 1)
        }
      }
    }
  }

  test("a listener of ours that fails loses the figures of that batch, and nothing else") {
    withQuery("broken_listener", counted = 2) { (_, batch) =>
      withBrokenReading(_.getName.startsWith("spark-listener-group-sparklatency"))(batch())
    }
  }
}
