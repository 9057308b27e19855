package org.apache.spark.sql.latency.compat

import scala.annotation.unused

import org.apache.spark.SparkContext
import org.apache.spark.sql.SparkSessionExtensions

/** Spark finds the extensions of each session by itself, and applies them once. */
object SessionExtensions {
  def isNew(@unused extensions: SparkSessionExtensions): Boolean = true

  def warnWithout(@unused session: SparkSession): Unit = ()

  def configure(@unused context: SparkContext, @unused provider: String): Unit = ()
}
