package io.sparklatency.spark

import java.util.Properties

/** Which release this is, and which Spark line its jar was built for. */
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
