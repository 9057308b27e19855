package io.sparklatency

import java.util.Collections
import java.util.{Map => JMap}

import io.sparklatency.spark.base.LatencyConf
import io.sparklatency.spark.base.OurFailure
import io.sparklatency.spark.base.Version
import org.apache.spark.SPARK_VERSION
import org.apache.spark.SparkContext
import org.apache.spark.api.plugin.DriverPlugin
import org.apache.spark.api.plugin.ExecutorPlugin
import org.apache.spark.api.plugin.PluginContext
import org.apache.spark.api.plugin.SparkPlugin
import org.apache.spark.sql.latency.application.LatencyApplication
import org.apache.spark.sql.latency.application.LatencyExtensions
import org.apache.spark.sql.latency.compat.SessionExtensions
import org.apache.spark.sql.latency.metrics.ClockExchanges
import org.apache.spark.sql.latency.metrics.ExecutorFigures
import org.apache.spark.sql.latency.recording.RunningTasks
import org.slf4j.LoggerFactory

/**
 * `spark.plugins=io.sparklatency.LatencyPlugin`. Marking works without it. It adds six things: settings, and whether the jar fits
 * Spark, are checked when the application starts, not at the first node; the source is in the metrics system from the beginning;
 * figures of long tasks come from the executors while the tasks run; executors learn which queries have ended; they learn how far
 * their clocks are off the driver's, and correct them; and one that has another version of us than the driver says so in its log.
 *
 * Costs a message of a few hundred bytes each time that a recorder publishes on an executor: twice a second in
 * real-time and continuous mode, else each `spark.sparklatency.publish.after`. And one from each executor every five
 * seconds while it shows a query, and three each `spark.sparklatency.clock.interval`. Spark calls it in the thread
 * that starts the driver or executor. Messages arrive in an RPC thread.
 */
final class LatencyPlugin extends SparkPlugin {

  override def driverPlugin(): DriverPlugin = new DriverPlugin {
    private var context: SparkContext = _
    private var application = Option.empty[LatencyApplication]

    override def init(context: SparkContext, plugin: PluginContext): JMap[String, String] = {
      Version.requireFit()
      LatencyConf(context.getConf).validate()
      LatencyConf.warnOfUnknownKeys(context.getConf)
      SessionExtensions.configure(context, classOf[LatencyExtensions].getName)
      this.context = context
      Collections.singletonMap(LatencyPlugin.VersionKey, Version.current)
    }

    /** Only here does the application have its id. A source registered earlier would go by a name without it. */
    override def registerMetrics(appId: String, plugin: PluginContext): Unit =
      application = Some(LatencyApplication.running(context))

    /** The last batches are yet to come into the event log. Spark 3 takes none any more by now. */
    override def shutdown(): Unit =
      if (!SPARK_VERSION.startsWith("3.")) application.foreach(_.settle(LatencyPlugin.SettleSeconds))

    /** Takes figures of tasks that still run, and answers questions. A failure of ours must not go back to the executor. */
    override def receive(message: AnyRef): AnyRef =
      try LatencyApplication.receive(message).orNull
      catch {
        case OurFailure(e) =>
          LoggerFactory.getLogger(getClass).warn("figures of a running task are lost", e)
          null
      }
  }

  override def executorPlugin(): ExecutorPlugin = new ExecutorPlugin {
    private var clock: Option[ClockExchanges] = None

    /** @param extra what the driver's side has given back as it began */
    override def init(plugin: PluginContext, extra: JMap[String, String]): Unit = {
      Option(extra.get(LatencyPlugin.VersionKey)).foreach(LatencyPlugin.compare(_, plugin.executorID))
      RunningTasks.sendBy(plugin.send(_))
      ExecutorFigures.askBy(plugin.ask(_))
      clock =
        ClockExchanges.of(plugin.executorID, LatencyConf.orDefaults(plugin.conf).clockInterval)(plugin.ask(_))
    }

    override def shutdown(): Unit = {
      RunningTasks.stopSending()
      ExecutorFigures.stopAsking()
      clock.foreach(_.stop())
    }
  }
}

private object LatencyPlugin {

  /** So long an application waits at most for its own last events, as it ends. */
  val SettleSeconds = 10L

  /** Under which the driver tells its executors its own version. */
  val VersionKey = "version"

  /** What one version sends another may not read. The executor runs all the same: queries without marks lose nothing. */
  def compare(ofDriver: String, executor: String): Unit =
    if (ofDriver != Version.current) LoggerFactory.getLogger(classOf[LatencyPlugin]).error(
      s"The driver has sparklatency $ofDriver, and executor $executor has ${Version.current}: tasks of marked " +
        "queries may fail. An old jar often stays in an image, in Spark's folder jars, or on spark.executor.extraClassPath."
    )
}
