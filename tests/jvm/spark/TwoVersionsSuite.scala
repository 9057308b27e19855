package org.apache.spark.sql.latency

import java.util.Collections
import java.util.{Map => JMap}

import scala.jdk.CollectionConverters._

import com.codahale.metrics.MetricRegistry
import io.sparklatency.LatencyPlugin
import io.sparklatency.spark.Logged
import io.sparklatency.spark.SparkTest
import io.sparklatency.spark.base.Version
import org.apache.logging.log4j.Level
import org.apache.spark.SparkConf
import org.apache.spark.api.plugin.PluginContext
import org.apache.spark.resource.ResourceInformation

/** Driver and executors may have their jars from different places. In Spark's package for its settings. */
class TwoVersionsSuite extends SparkTest {

  /** Of an executor that does not compare its clock. */
  private object Executor extends PluginContext {
    override def metricRegistry(): MetricRegistry = new MetricRegistry
    override def conf(): SparkConf = new SparkConf(false).set("spark.sparklatency.clock.interval", "0")
    override def executorID(): String = "7"
    override def hostname(): String = "localhost"
    override def resources(): JMap[String, ResourceInformation] = Collections.emptyMap()
    override def send(message: AnyRef): Unit = ()
    override def ask(message: AnyRef): AnyRef = null
  }

  /** What the driver's side gives back. On Spark 3.5 it also names our extensions, which these sessions find by themselves. */
  private def ofDriver(): Map[String, String] = {
    val (conf, extensions) = (spark.sparkContext.conf, "spark.sql.extensions")
    val before = conf.getOption(extensions)
    try new LatencyPlugin().driverPlugin().init(spark.sparkContext, Executor).asScala.toMap
    finally {
      conf.remove(extensions)
      before.foreach(conf.set(extensions, _))
    }
  }

  /** The errors of an executor that is told this. */
  private def errors(extra: Map[String, String]): Seq[String] =
    Logged.from(Level.ERROR) {
      val executor = new LatencyPlugin().executorPlugin()
      try executor.init(Executor, extra.asJava)
      finally executor.shutdown()
    }.map { case (_, message) => message }

  test("an executor of another version than the driver's says so, and runs") {
    val told = ofDriver()
    assert(told.values.toList === List(Version.current))
    assert(errors(told.map { case (key, _) => key -> "0.0.9" }) === Seq(
      s"The driver has sparklatency 0.0.9, and executor 7 has ${Version.current}: tasks of marked queries may fail. " +
        "An old jar often stays in an image, in Spark's folder jars, or on spark.executor.extraClassPath."
    ))
  }

  test("of the same version, or where the driver does not tell its own, there is nothing to say") {
    assert(errors(ofDriver()) === Nil)
    assert(errors(Map.empty) === Nil)
  }
}
