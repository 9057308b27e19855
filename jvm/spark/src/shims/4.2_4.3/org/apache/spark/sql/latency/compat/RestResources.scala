package org.apache.spark.sql.latency.compat

import scala.annotation.unused

import org.apache.spark.ui.SparkUI

/** Spark's REST API finds our resource by itself: a thread of Jetty 12 sees what the thread saw that has started the UI. */
object RestResources {
  def find(@unused ui: SparkUI): Unit = ()
}
