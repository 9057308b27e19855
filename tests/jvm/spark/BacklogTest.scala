package io.sparklatency.spark

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode

/** Queries that read what was left behind, by the clock on the wall, as Spark's progress is. */
trait BacklogTest extends StreamingTest with Patient {

  /** The parts of the age of the last records. */
  protected def partsOf(told: JsonNode): Seq[JsonNode] = told.get("parts").get("of").elements.asScala.toSeq

  protected def codes(told: JsonNode): Seq[String] = partsOf(told).map(_.get("code").asText)
}
