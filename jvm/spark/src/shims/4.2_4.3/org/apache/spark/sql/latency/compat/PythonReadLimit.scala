package org.apache.spark.sql.latency.compat

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.spark.sql.connector.read.streaming.ReadLimit
import org.apache.spark.sql.execution.datasources.v2.python.PythonStreamingSourceReadLimit

/** The name of the limit that a reader in Python has, as its author wrote it. A pattern without state, for any thread. */
object PythonReadLimit {
  private val json = new ObjectMapper

  def unapply(limit: ReadLimit): Option[String] = limit match {
    case PythonStreamingSourceReadLimit(written) => Some(json.readTree(written).path("_type").asText)
    case _ => None
  }
}
