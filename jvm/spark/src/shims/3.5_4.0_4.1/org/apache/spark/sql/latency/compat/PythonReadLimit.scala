package org.apache.spark.sql.latency.compat

import scala.annotation.unused

import org.apache.spark.sql.connector.read.streaming.ReadLimit

/** No limit is one: readers in Python have limits since Spark 4.2. */
object PythonReadLimit {
  def unapply(@unused limit: ReadLimit): Option[String] = None
}
