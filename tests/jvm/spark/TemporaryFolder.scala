package org.apache.spark.sql.latency

import java.nio.file.Files
import java.nio.file.Path

import org.apache.spark.util.ShutdownHookManager

/** Makes folders that are gone when the JVM of the tests has ended. Their names are short: nodes are called after them. */
object TemporaryFolder {
  def apply(name: String): Path = {
    val folder = Files.createTempDirectory(name)
    ShutdownHookManager.registerShutdownDeleteDir(folder.toFile)
    folder
  }
}
