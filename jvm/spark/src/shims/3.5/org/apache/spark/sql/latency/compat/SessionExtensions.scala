package org.apache.spark.sql.latency.compat

import java.util.Collections
import java.util.WeakHashMap

import org.apache.spark.SparkContext
import org.apache.spark.internal.Logging
import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.internal.StaticSQLConf.SPARK_SESSION_EXTENSIONS

/**
 * A session that Python makes does not look for extensions, and one that Scala makes does. So the plugin names ours in the settings, and
 * what is found in both ways is applied once. Any thread that makes a session may call it.
 */
object SessionExtensions extends Logging {
  private val known = Collections.synchronizedMap(new WeakHashMap[SparkSessionExtensions, Object])

  /** Whether these have nothing of ours yet. */
  def isNew(extensions: SparkSessionExtensions): Boolean = known.put(extensions, this) == null

  /** Called at a session's first mark. */
  def warnWithout(session: SparkSession): Unit =
    if (!known.containsKey(session.extensions)) logWarning(
      "Nodes show what is marked by hand, and no commit latency: on Spark 3.5 a session that Python makes finds " +
        "automatic nodes, hints and SQL functions of sparklatency only with " +
        "--conf spark.plugins=io.sparklatency.LatencyPlugin"
    )

  /** Called before the application has a session. */
  def configure(context: SparkContext, provider: String): Unit = {
    val named = context.conf.get(SPARK_SESSION_EXTENSIONS).getOrElse(Nil)
    if (!named.contains(provider)) context.conf.set(SPARK_SESSION_EXTENSIONS, named :+ provider)
    ()
  }
}
