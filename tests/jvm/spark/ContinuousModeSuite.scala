package io.sparklatency.spark

import java.util.concurrent.CountDownLatch

import scala.jdk.CollectionConverters._

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.PassedEpochs
import org.apache.spark.sql.streaming.StreamingQuery
import org.apache.spark.sql.streaming.Trigger

/** Continuous mode: marks by hand, automatic nodes and markers, and an epoch that hangs. */
class ContinuousModeSuite extends LongTasksTest {
  import ContinuousModeSuite._

  /** Records that are seven milliseconds old, of which every other one passes the filter. */
  private def marked: DataFrame =
    rateSource(
      perSecond = 50,
      partitions = 2
    ).select(col("value"), timestamp_millis(lit(Start - 7)).as("at")).withE2ELatency("below", "at")
      .filter("value % 2 = 0").withE2ELatency("above", "at")

  private def startContinuously(name: String): StreamingQuery =
    marked.writeStream.queryName(name).format("noop").trigger(Trigger.Continuous("1 second")).start()

  test("Spark's own check refuses them") {
    val refused = intercept[AnalysisException](startContinuously("continuous_checked").stop())
    assert(refused.getMessage.contains("Continuous processing does not support LatencyMark operations"))
  }

  test("without that check they measure, and keep their counts when the query stops") {
    withSettings("spark.sql.streaming.unsupportedOperationCheck" -> "false") {
      val query = startContinuously("continuous_by_hand")
      val counted =
        try {
          eventually(assert(Seq("below", "above").forall(findNode(_, query.name).exists(_.records > 50))))
          Seq("below", "above").map(node(_, query.name).records)
        } finally query.stop()
      val (below, above) = (node("below", query.name), node("above", query.name))
      assert(Seq(below, above).map(_.records).zip(counted).forall { case (now, before) => now >= before })
      for (node <- Seq(below, above))
        assert((node.min, node.avg, node.max) === ((Some(7), Some(7.0), Some(7))))
      assert(above.records < below.records)
    }
  }

  test("in continuous mode a marker passes each node once, however many epochs went before") {
    byTheWall {
      withSettings(
        "spark.sparklatency.auto" -> "source,terminal",
        "spark.sparklatency.markers.interval" -> "1s"
      ) {
        val rate = rateSource(perSecond = 50, partitions = 2)
        val query = rate.writeStream.queryName("epochs").format("noop")
          .trigger(Trigger.Continuous("1 second")).start()
        try {
          val markers = eventually {
            val markers = answerOf("epochs").get("markers")
            assert(markers.get("count").asLong >= 10)
            markers
          }
          val passed = markers.get("of").elements.asScala.map(_.get("latency").get("count").asLong)
          assert(passed.sum === markers.get("count").asLong)
        } finally query.stop()
      }
    }
  }

  test("in continuous mode automatic nodes measure, and keep their counts when the query stops") {
    withSettings("spark.sparklatency.auto" -> "source,terminal") {
      val rate = rateSource(perSecond = 50, partitions = 2)
      val query = rate.filter(
        "value >= 0"
      ).writeStream.queryName("continuous").format("noop").trigger(Trigger.Continuous("1 second")).start()
      val counted =
        try {
          eventually(assert(Seq("source-0-rate", "sink").forall(figures(_, "continuous").exists(_._1 > 50))))
          // Both have told all their tasks' records but those of the last half second.
          eventually {
            val parts = answerOf("continuous").get("parts").get("of").elements.asScala
            assert(parts.map(part => part.get("code").asText -> part.get("nodes").size).toSeq ===
              Seq("source-queuing" -> 0, "work" -> 1))
          }
          assert(waysOf("continuous") === Seq("source-0-rate" -> Nil, "sink" -> Seq("source-0-rate")))
          node("sink", "continuous").records
        } finally query.stop()
      assert(node("sink", "continuous").records >= counted)
    }
  }

  /** The headline of a query, and what is said of how it goes. */
  private def said(name: String): (String, Boolean, String) = {
    val answered = queryOf(name)
    val progress = answered.get("progress")
    (answered.at("/headline/text").asText, progress.get("stalled").asBoolean, progress.get("text").asText)
  }

  for (marks <- Seq("marks", "no mark"))
    test(s"an epoch that is not committed is told as one that hangs, in a query with $marks") {
      withSettings("spark.sql.streaming.unsupportedOperationCheck" -> "false") {
        listen()
        val name = s"continuous_hangs_with_${marks.replace(' ', '_')}"
        val read = if (marks == "marks") marked else rateSource(perSecond = 50, partitions = 2)
        val written = read.filter(passes(col("value")))
        val query = written.writeStream.queryName(name).format("noop")
          .trigger(Trigger.Continuous("1 second")).start()
        try {
          eventually(assert(query.status.message.startsWith("Committing epoch ")))
          PassedEpochs.of(query, 60)
          eventually(assert(query.status.message.stripPrefix("Committing epoch ").toInt > 60))
          assert(!said(name)._2)
          waiting = new CountDownLatch(1)
          gate = new CountDownLatch(1)
          eventually(assert(waiting.getCount === 0)) // that task gets past its row to no next epoch
          PassedEpochs.of(query, 60)
          eventually {
            clock.advance(30000) // where nodes tell it, for so long no task has taken a row
            val (headline, isStalled, text) = said(name)
            assert(isStalled)
            for (told <- Seq(headline, text)) told match {
              case Hangs(epoch, last) => assert(epoch.toInt === last.toInt + 1)
              case other => fail(other)
            }
          }
          gate.countDown()
          eventually(assert(!said(name)._2))
        } finally {
          gate.countDown()
          query.stop()
        }
      }
    }
}

object ContinuousModeSuite {

  /** Rows wait for it, in tasks that know no test. */
  @volatile private var gate = new CountDownLatch(0)
  @volatile private var waiting = new CountDownLatch(0)

  private val passes = udf { (_: Long) =>
    if (gate.getCount > 0) waiting.countDown()
    gate.await()
    true
  }

  private val Hangs =
    """Batch (\d+) has run for [\d.]+ (?:s|min): Spark has not got beyond the commit of epoch (\d+), 0 of 2 tasks done\..*""".r
}
