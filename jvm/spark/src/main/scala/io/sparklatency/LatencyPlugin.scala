package io.sparklatency

import java.util.{Collections, Map => JMap}

import org.apache.spark.SparkContext
import org.apache.spark.api.plugin.{DriverPlugin, ExecutorPlugin, PluginContext, SparkPlugin}
import org.apache.spark.sql.latency.LatencyTracker

import io.sparklatency.spark.LatencyConf

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
