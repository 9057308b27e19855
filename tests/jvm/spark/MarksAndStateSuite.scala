package io.sparklatency.spark

import java.sql.Timestamp

import io.sparklatency.spark.Lines.MemoryStream
import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.TemporaryFolder
import org.apache.spark.sql.streaming.StreamingQueryException

/**
 * A node by hand reads its timestamp. Where nothing else does, that column is in the operators below it because of the node alone. What
 * that means for their state, and for the rows that they take for late: pages tell of it.
 */
class MarksAndStateSuite extends StreamingTest {
  private val on = Seq.empty[(String, String)]
  private val off = Seq("spark.sparklatency.recording.level" -> "NONE")
  private val kept = Seq("spark.sparklatency.forceTimestampSupport" -> "true")

  /**
   * Counts in windows with a node, by the newest timestamp of each, and on from the checkpoint with other settings.
   *
   * @param last what comes behind the node
   * @return how many rows the two runs have written
   */
  private def restarted(before: Seq[(String, String)], after: Seq[(String, String)])(
      last: DataFrame => DataFrame
  ): Seq[Long] = {
    val checkpoint = TemporaryFolder("checkpoint").toString
    val input = stream
    for (settings <- Seq(before, after)) yield withSettings(settings: _*) {
      val counts = watermarked(input).groupBy(window(col("value"), "1 second"))
        .agg(count("*").as("n"), max("value").as("newest"))
      val query =
        start(last(counts.withE2ELatency("totals", "newest")), freshNode(), "update", Some(checkpoint))
      try {
        input.addData(ago(1500, 2500))
        processAll(query)
        query.recentProgress.map(_.sink.numOutputRows.max(0L)).sum
      } finally query.stop()
    }
  }

  private def withoutNewest(df: DataFrame): DataFrame = df.drop("newest")

  for ((what, before, after) <- Seq(("taken away", on, off), ("added", off, on))) {
    test(s"a node behind an aggregation whose max it alone reads is $what: Spark refuses the checkpoint") {
      val refused = intercept[StreamingQueryException](restarted(before, after)(withoutNewest))
      assert(refused.getMessage.toLowerCase.contains("schema"), refused.getMessage)
    }

    test(s"a node behind an aggregation is $what: where the max is kept for it, the query goes on") {
      assert(restarted(before ++ kept, after ++ kept)(withoutNewest) === Seq(2, 2))
    }

    test(s"a node behind an aggregation that gives out its max is $what: the query goes on") {
      assert(restarted(before, after)(identity) === Seq(2, 2))
    }
  }

  test(
    "a filter behind a node behind an aggregation changes the state when the node goes, but not where it is kept"
  ) {
    def inState(settings: Seq[(String, String)]): Long = withSettings(settings: _*) {
      val input = stream
      val counts = watermarked(input).groupBy("value").count().withE2ELatency("counts", "value")
      val query = start(counts.filter("unix_millis(value) % 2 = 0"), freshNode(), "update")
      try {
        input.addData(ago(0, 1, 2, 3))
        processAll(query)
        query.recentProgress.flatMap(_.stateOperators).map(_.numRowsTotal).max
      } finally query.stop()
    }
    assert(Seq(on, off, off ++ kept).map(inState) === Seq(4, 2, 4))
  }

  test("what a node has kept in the state so far stays there, if the setting comes when the node goes") {
    assert(restarted(on, off ++ kept)(withoutNewest) === Seq(2, 2))
  }

  /** What a query writes of `late`, which comes when the watermark has passed it, and of what came before. */
  private def written(shape: (DataFrame, DataFrame) => DataFrame): Seq[String] = {
    import spark.implicits._
    val (input, other) = (MemoryStream[(String, Timestamp)](spark), MemoryStream[String](spark))
    val events = input.toDF().toDF("id", "ts").withWatermark("ts", "10 seconds")
    var ids = Seq.empty[String]
    val query = shape(events, other.toDF().toDF("id")).select("id").writeStream
      .foreachBatch((batch: DataFrame, _: Long) => ids ++= batch.as[String].collect()).start()
    try {
      other.addData("a", "b", "c", "late")
      for ((id, ms) <- Seq("a" -> 0L, "b" -> 30000L, "c" -> 31000L, "late" -> 0L)) {
        input.addData(id -> new Timestamp(Start + ms))
        processAll(query)
      }
    } finally query.stop()
    ids
  }

  private val operators = Seq[(String, (DataFrame, DataFrame) => DataFrame)](
    "dropDuplicates" -> ((events, _) => events.dropDuplicates("id")),
    "a join of two streams" -> ((events, other) => events.join(other, "id"))
  )

  private val all = Seq("a", "b", "c", "late")

  for ((what, operator) <- operators)
    test(s"behind $what a node by the watermarked column, which nothing else reads, makes late rows go") {
      def behind(timestamp: String)(events: DataFrame, other: DataFrame) =
        operator(events, other).withE2ELatency(freshNode(), timestamp)
      assert(written(operator) === all)
      assert(written(behind("ts")) === Seq("a", "b", "c"))
      withSettings(off: _*)(assert(written(behind("ts")) === all))
      // Each of the remedies.
      assert(written((events, other) => operator(events.withE2ELatency(freshNode(), "ts"), other)) === all)
      assert(written((events, other) =>
        behind("at")(events.withColumn("at", col("ts") + expr("INTERVAL 0 SECONDS")), other)
      ) === all)
    }
}
