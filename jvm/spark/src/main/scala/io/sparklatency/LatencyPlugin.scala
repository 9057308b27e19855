package io.sparklatency

import java.util.Collections
import java.util.{Map => JMap}

import io.sparklatency.spark.LatencyConf
import org.apache.spark.SparkContext
import org.apache.spark.api.plugin.DriverPlugin
import org.apache.spark.api.plugin.ExecutorPlugin
import org.apache.spark.api.plugin.PluginContext
import org.apache.spark.api.plugin.SparkPlugin
import org.apache.spark.sql.latency.LatencyTracker

/**
 * `spark.plugins=io.sparklatency.LatencyPlugin`: checks the settings when the application starts, rather than at the first
 * node, and shows the source in the metrics system from the beginning. Marking works without it.
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
  }

  override def executorPlugin(): ExecutorPlugin = null
}
