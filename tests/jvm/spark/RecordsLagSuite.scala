package io.sparklatency.spark

import scala.collection.mutable

import com.fasterxml.jackson.databind.JsonNode
import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame

/** How many records triggers leave at a source, of which each batch takes four at the most: seven are there. */
class RecordsLagSuite extends StreamingTest {
  private val words = "The last trigger left"

  /** What is told while each batch runs, so of the trigger before, and after the last. */
  private def told(df: DataFrame, name: String): Seq[JsonNode] = {
    listen()
    val seen = mutable.Buffer.empty[JsonNode]
    def look(): Unit = seen += queryOf(name).get("progress")
    val query = df.writeStream.queryName(name).foreachBatch { (batch: DataFrame, _: Long) =>
      drop(batch)
      look()
      lagsOfGauges += gauges.get(s"query.$name.records-lag")
      ()
    }.start()
    try {
      processAll(query)
      look()
    } finally query.stop()
    look()
    seen.toSeq
  }

  private val lagsOfGauges = mutable.Buffer.empty[Option[Any]]

  private def topic: DataFrame = spark.readStream.format(classOf[TopicSource].getName).load()

  private def lags(told: Seq[JsonNode]): Seq[Option[Long]] =
    told.map(_.get("recordsLag")).map(lag => Option.when(!lag.isNull)(lag.asLong))

  private def sentences(told: Seq[JsonNode]): Seq[String] =
    told.flatMap(_.get("text").asText.split("(?<=\\.) ")).filter(_.startsWith(words))

  test("what a limit leaves at Kafka is told of each trigger, until the run has ended") {
    lagsOfGauges.clear()
    val seen = told(topic.withE2ELatency("source", "value"), "lagging")
    assert(lags(seen) === Seq(None, Some(3), Some(1), Some(0), None))
    assert(sentences(seen) === Seq(
      s"$words 3 records in kafka[orders].",
      s"$words 1 record in kafka[orders]."
    ))
    assert(lagsOfGauges.drop(1) === Seq(Some(3.0), Some(1.0)))
    assert(lagsOfGauges.head.exists(_.asInstanceOf[Double].isNaN))
  }

  test("what a limit leaves at Kafka is told of a query without marks, too") {
    val seen = told(topic, "lagging_unmarked")
    assert(lags(seen) === Seq(None, Some(3), Some(1), Some(0), None))
    assert(sentences(seen).size === 2)
  }

  test("of two sources with one name the records are together") {
    assert(lags(told(topic.union(topic), "lagging_twice")) === Seq(None, Some(6), Some(2), Some(0), None))
  }

  test("where offsets are not what the source says, nobody knows how many records there are") {
    TopicSource.said = _ * 100
    try assert(lags(told(topic, "lagging_otherwise")) === Seq(None, None, None, Some(0), None))
    finally TopicSource.said = identity
  }

  test("a source that does not tell has no number, and not none") {
    val input = stream
    input.addData(ago(1))
    assert(lags(told(marked(input), "lagging_untold")) === Seq(None, None, None))
  }
}
