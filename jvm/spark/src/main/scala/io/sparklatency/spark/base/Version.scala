package io.sparklatency.spark.base

import java.util.Properties

/**
 * Which release this is, and for which Spark line its jar was built. Reads one small file of the jar, once in a process. Any
 * thread may ask.
 */
object Version {
  private lazy val properties = {
    val loaded = new Properties
    val file = getClass.getResourceAsStream("/io/sparklatency/build.properties")
    try loaded.load(file)
    finally file.close()
    loaded
  }

  lazy val current: String = properties.getProperty("version")
  lazy val sparkLine: String = properties.getProperty("spark")
}
