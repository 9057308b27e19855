package org.apache.spark.sql.latency.compat

import java.util.Collections
import java.util.WeakHashMap

import scala.annotation.unused

import org.apache.spark.SparkContext
import org.apache.spark.sql.SparkSessionExtensions

/**
 * Spark finds the extensions of each session by itself. A builder that makes a second session applies them again to what has them, and
 * where a user names ours in the settings too they are applied twice. With each rule twice a node stands before itself, and no query
 * has an end. Any thread that makes a session may call it.
 */
object SessionExtensions {
  private val known = Collections.synchronizedMap(new WeakHashMap[SparkSessionExtensions, Object])

  /** Whether these have nothing of ours yet. */
  def isNew(extensions: SparkSessionExtensions): Boolean = known.put(extensions, this) == null

  def warnWithout(@unused session: SparkSession): Unit = ()

  def configure(@unused context: SparkContext, @unused provider: String): Unit = ()
}
