package org.apache.spark.sql.latency

import java.nio.file.Path

import org.apache.spark.util.Utils

/** Makes folders that are gone when the JVM of the tests has ended. */
object TemporaryFolder {
  def apply(name: String): Path = Utils.createTempDir(namePrefix = name).toPath
}
