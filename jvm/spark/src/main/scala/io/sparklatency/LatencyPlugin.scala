package io.sparklatency

import java.util.Collections
import java.util.{Map => JMap}

import scala.util.control.NonFatal

import io.sparklatency.spark.LatencyConf
import org.apache.spark.SparkContext
import org.apache.spark.api.plugin.DriverPlugin
import org.apache.spark.api.plugin.ExecutorPlugin
import org.apache.spark.api.plugin.PluginContext
import org.apache.spark.api.plugin.SparkPlugin
import org.apache.spark.sql.latency.LatencyTracker
import org.apache.spark.sql.latency.RunningTasks
import org.slf4j.LoggerFactory

/**
 * `spark.plugins=io.sparklatency.LatencyPlugin`. Marking works without it; with it settings are checked when the application
 * starts, rather than at the first node, the source is in the metrics system from the beginning, and figures of tasks that run
 * for long come from the executors while they run.
 */
final class LatencyPlugin extends SparkPlugin {

  override def driverPlugin(): DriverPlugin = new DriverPlugin {
    private var context: SparkContext = _

    override def init(context: SparkContext, plugin: PluginContext): JMap[String, String] = {
      LatencyConf(context.getConf).validate()
      LatencyConf.warnOfUnknownKeys(context.getConf)
      this.context = context
      Collections.emptyMap()
    }

    /** Not before: a source registered while the application has no id yet would go by a name without it. */
    override def registerMetrics(appId: String, plugin: PluginContext): Unit = {
      LatencyTracker.of(context)
      ()
    }

    /** Figures of tasks that still run. A failure of ours must not go back to the executor. */
    override def receive(message: AnyRef): AnyRef = {
      try LatencyTracker.receive(message)
      catch {
        case NonFatal(e) => LoggerFactory.getLogger(getClass).warn("figures of a running task are lost", e)
      }
      null
    }
  }

  override def executorPlugin(): ExecutorPlugin = new ExecutorPlugin {
    override def init(plugin: PluginContext, extra: JMap[String, String]): Unit =
      RunningTasks.sendBy(plugin.send(_))
    override def shutdown(): Unit = RunningTasks.stopSending()
  }
}
