package io.sparklatency.spark

import scala.jdk.CollectionConverters._

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame

/** What is said of a watermark's delay, by Spark's own watermark and the records of a query that runs. */
class WatermarkDelaySuite extends StreamingTest {

  /** What is said before, and after 10,000 records that came at most three seconds behind. */
  private def said(mode: String)(shape: DataFrame => DataFrame): (Seq[String], Seq[String]) = {
    val input = stream
    val name = freshNode()
    val query = start(shape(marked(input)), name, mode)
    def notes = queryOf(name).at("/notes").elements.asScala
      .filter(_.get("code").asText == "watermark-delay").map(_.get("text").asText).toSeq
    try {
      input.addData(ago(0))
      processAll(query)
      val before = notes
      input.addData(ago((1 to 10000).map(_ % 3001L): _*))
      processAll(query)
      assert(query.recentProgress.map(_.numInputRows).sum === 10001)
      before -> notes
    } finally query.stop()
  }

  private def windows(df: DataFrame): DataFrame = newestOfEachSecond(df).withE2ELatency("sink", "last")

  test("that records come less late than a watermark waits is told, and what a shorter delay would give") {
    val (before, after) = said("append")(windows)
    assert(before === Nil, "nothing is known of records before the first one")
    assert(after === Seq(
      "The watermark waits 10 s for late records, and 99.99 % of 10,000 came at most 3 s behind the newest event. With 4 s, results " +
        "would come 6 s earlier, and none of these would have been dropped."
    ))
  }

  test(
    "where results do not wait for the watermark, nobody is told that a shorter delay gives them earlier"
  ) {
    for (mode <- Seq("update", "complete")) assert(said(mode)(windows) === Nil -> Nil, mode)
    assert(said("append")(_.dropDuplicates("value").withE2ELatency("sink", "value")) === Nil -> Nil)
  }

  test("no shorter delay is advised that would let duplicates through") {
    assert(said("append")(df => windows(df.dropDuplicatesWithinWatermark("value"))) === Nil -> Nil)
  }
}
