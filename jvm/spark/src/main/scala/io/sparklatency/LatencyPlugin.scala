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
    override def init(context: SparkContext, plugin: PluginContext): JMap[String, String] = {
      LatencyConf(context.getConf).validate()
      LatencyConf.warnOfUnknownKeys(context.getConf)
      LatencyTracker.of(context)
      Collections.emptyMap()
    }
  }

  override def executorPlugin(): ExecutorPlugin = null
}
