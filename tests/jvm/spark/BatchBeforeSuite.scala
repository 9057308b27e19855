package io.sparklatency.spark

import java.sql.Timestamp
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.ObjectMapper
import io.sparklatency.answer.Readable
import io.sparklatency.spark.syntax._
import org.apache.spark.sql.functions._
import org.apache.spark.sql.streaming.StreamingQuery

/** What is said of records that came while a batch ran that took long. By the clock on the wall, as Spark's progress is. */
class BatchBeforeSuite extends StreamingTest {
  import BatchBeforeSuite._

  test(
    "where records waited for the batch before, the node is named that filled that one, and how much of it"
  ) {
    byTheWall {
      val input = stream
      val scored = marked(input).filter(scores(col("value"))).withE2ELatency("scored", "value")
      val query = start(scored, "batch_before")
      def add(records: Int): Long = {
        val now = System.currentTimeMillis
        input.addData(Seq.fill(records)(new Timestamp(now)): _*)
        now
      }
      try {
        for (_ <- 1 to 2) {
          add(1)
          processAll(query)
        }
        // For so much longer than a batch takes on this machine that the next one's records wait for this one above all.
        val pause = new Pause(2000 + 10 * tookMs(query).last)
        paused = Some(pause)
        add(1)
        assert(pause.began.await(Patience.Seconds, TimeUnit.SECONDS), "the batch runs")
        paused = None
        val came = add(5)
        processAll(query)

        val headline = queryOf("batch_before").get("headline")
        assert(headline.get("code").asText === "waited-for-the-batch-before", headline)
        assert(headline.get("node").asText === "scored", headline)
        // As far as a histogram tells.
        assert(headline.get("own").asDouble >= 0.99 * (pause.beganMs + pause.ms - came), "until it had ended")
        // All of the slow batch is as Spark and as the operators of that batch tell it, to a digit.
        val step = longestStep("batch_before", 2)
        assert(step.get("nodes").elements.asScala.map(_.asText).toSeq === Seq("scored"), step)
        assert(step.get("ms").asDouble > pause.ms / 2, step)
        val took = Readable.duration(tookMs(query)(2).toDouble)
        val figures = Seq("own", "whole").map(field => Readable.duration(headline.get(field).asDouble))
        assert(
          headline.get("text").asText ===
            s"Records wait for the batch before, ${figures.head} of ${figures.last} " +
            s"(${Readable.percent(headline.get("share").asDouble)}). The batch before took $took, " +
            s"${Readable.duration(step.get("ms").asDouble)} of it at scored. Make that faster, or give it more cores."
        )
      } finally query.stop()
    }
  }

  /** How long each batch took, as Spark tells it. */
  private def tookMs(query: StreamingQuery): Seq[Long] =
    query.recentProgress.toSeq.filter(_.numInputRows > 0).map(_.durationMs.get("triggerExecution").toLong)

  private def longestStep(query: String, batch: Int): JsonNode =
    new ObjectMapper().readTree(PythonApi.historyJson(spark, query, 9)).get("batches").elements.asScala
      .find(_.get("batch").asInt == batch).get.at("/operators/steps").elements.asScala
      .maxBy(_.get("ms").asDouble)
}

object BatchBeforeSuite {

  /** A pause of the function below, which tells when it has begun. */
  private final class Pause(val ms: Long) {
    val began = new CountDownLatch(1)
    @volatile var beganMs = 0L

    def await(): Unit = {
      beganMs = System.currentTimeMillis
      began.countDown()
      Thread.sleep(ms)
    }
  }

  @volatile private var paused: Option[Pause] = None

  private val scores = udf { (_: Timestamp) => paused.foreach(_.await()); true }.asNondeterministic()
}
