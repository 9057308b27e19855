package io.sparklatency.spark

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._
import org.apache.spark.sql.streaming.StreamingQuery
import org.apache.spark.sql.streaming.Trigger

/** Marks by hand in continuous mode. */
class ContinuousModeSuite extends StreamingTest with Patient {

  /** Records that are seven milliseconds old, of which every other one passes the filter. */
  private def marked: DataFrame = {
    val rate =
      spark.readStream.format("rate").option("rowsPerSecond", "50").option("numPartitions", "2").load()
    rate.select(col("value"), timestamp_millis(lit(Start - 7)).as("at")).withE2ELatency("below", "at")
      .filter("value % 2 = 0").withE2ELatency("above", "at")
  }

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
}
