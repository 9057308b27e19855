package org.apache.spark.sql.latency

import org.apache.spark.sql.latency.compat.SparkSession

/** Sessions of an application that was submitted with other settings. In Spark's own package for its visibility. */
object ApplicationSettings {

  /** A session that finds these in the application's configuration, where every session of it begins. */
  def session(spark: SparkSession, settings: (String, String)*): SparkSession = {
    val conf = spark.sharedState.conf
    settings.foreach { case (key, value) => conf.set(key, value) }
    try {
      val session = spark.newSession()
      session.conf // made at the first look, from what is set now
      session
    } finally settings.foreach { case (key, _) => conf.remove(key) }
  }
}
