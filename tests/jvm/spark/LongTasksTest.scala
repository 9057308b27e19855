package io.sparklatency.spark

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode

/** Queries whose tasks run for minutes, and what a user reads of them meanwhile. */
trait LongTasksTest extends StreamingTest with Patient {

  /** Found among all: a batch query may be shown beside it. */
  protected def answerOf(query: String): JsonNode =
    latencyOf(null).get("queries").elements.asScala.find(_.get("query").asText == query).get

  /** Of each node those right before it. */
  protected def waysOf(query: String): Seq[(String, Seq[String])] =
    answerOf(query).get("nodes").elements.asScala.map { node =>
      node.get("node").asText -> node.get("upstream").elements.asScala.map(_.asText).toSeq
    }.toSeq

  protected def figures(id: String, query: String): Option[(Long, Option[Long], Option[Long])] =
    findNode(id, query).map(_.figures)
}
