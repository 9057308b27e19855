package io.sparklatency.spark

import java.sql.Timestamp
import java.time.Instant

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.streaming.StreamingQuery

/** What a source keeps until there is more of it, as Kafka's does with `minOffsetsPerTrigger`. */
class KeptUntilMoreSuite extends BacklogTest {

  private def hesitant: DataFrame =
    spark.readStream.format(classOf[HesitantSource].getName).load().withE2ELatency("source", "value")

  /**
   * Lets a record wait until there is another. Of two that are read then one has waited for that.
   *
   * @param left      brings the record
   * @param meanwhile what else happens when it has waited for long
   */
  private def keptUntilMore(df: DataFrame, name: String)(left: StreamingQuery => Unit)(
      meanwhile: StreamingQuery => Unit
  ): Unit = byTheWall {
    (1 to 2).foreach(_ => HesitantSource.add())
    val query = start(df, name)
    try {
      processAll(query)
      left(query)
      looksInVain(200)
      meanwhile(query)
      // Spark may take a second for what it does after a batch. For so long no trigger that found nothing is known.
      looksInVain(120)
      val inVain = HesitantSource.lastInVain
      HesitantSource.add()
      processAll(query)
      val told = queryOf(name)
      val parts = partsOf(told).map(part => part.get("code").asText -> part.get("ms").asDouble).toMap
      // Bounds that hold however long a look takes: the limit kept a record for as long as Spark looked in vain, and no longer
      // than until it looked again.
      val last = query.recentProgress.filter(_.numInputRows > 0).last
      val (began, looked) =
        (Instant.parse(last.timestamp).toEpochMilli, last.durationMs.get("latestOffset").toLong)
      val came = HesitantSource.lastTwo
      val (least, most) = (
        (inVain - looked - came.min) / 2.0,
        came.map(at => (began - at).max(0)).sum / 2.0
      )
      val error = 2 + most / 100 // of what is known of a histogram
      assert(parts("backlog") > least - error && parts("backlog") < most + error, s"$least to $most: $parts")
      assert(parts.getOrElse("waited-for-the-trigger", 0.0) < 10 + looked + error, s"$looked: $parts")
      assert(parts.getOrElse("arrived-old", 0.0) < error, parts)
      assert(told.get("headline").get("text").asText.contains("minOffsetsPerTrigger"), told.get("headline"))
    } finally query.stop()
  }

  /** Waits until Spark has asked so often, each time for nothing. It does so a hundred times in a second at the most. */
  private def looksInVain(times: Int): Unit = {
    val before = HesitantSource.looks.get
    eventually(assert(HesitantSource.looks.get > before + times))
    ()
  }

  test("what a source keeps until there is more of it waits in the backlog, and did not arrive old") {
    keptUntilMore(hesitant, "hesitant")(_ => HesitantSource.add())(_ => ())
  }

  test("what a source keeps where a limit has left too few waits in the backlog, and not for the trigger") {
    HesitantSource.most = 2
    try keptUntilMore(hesitant, "hesitant_with_most") { query =>
        (1 to 3).foreach(_ => HesitantSource.add())
        processAll(query)
      }(_ => ())
    finally HesitantSource.most = Long.MaxValue
  }

  test("what a source keeps waits in the backlog also while batches read other sources") {
    val others = stream
    def another(query: StreamingQuery): Unit = {
      others.addData(new Timestamp(System.currentTimeMillis))
      processAll(query)
    }
    keptUntilMore(hesitant.union(others.toDF().withE2ELatency("others", "value")), "hesitant_beside") {
      query =>
        HesitantSource.add()
        another(query)
    }(another)
  }
}
