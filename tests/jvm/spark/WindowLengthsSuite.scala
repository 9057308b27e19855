package org.apache.spark.sql.latency

import io.sparklatency.spark.StreamingTest
import io.sparklatency.spark.syntax._
import org.apache.spark.sql.Column
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.application.LatencyApplication

/** How long the windows of a plan are, by the node at which their records come out. In Spark's package for what only ours may call. */
class WindowLengthsSuite extends StreamingTest {

  /** Of each node of a query that has run one batch. */
  private def lengths(
      name: String,
      mode: String = "update"
  )(plan: DataFrame => DataFrame): Map[String, Long] = {
    val input = stream
    val query = start(plan(marked(input)), name, mode)
    try {
      input.addData(ago(5))
      processAll(query)
      val store = LatencyApplication.of(spark.sparkContext).settledStore()
      store.history(store.query(name).get).flatMap(_.nodes).flatMap(node =>
        node.windowMs.map(node.id -> _)
      ).toMap
    } finally query.stop()
  }

  private def counted(df: DataFrame, by: Column): DataFrame =
    df.groupBy(by.as("in")).agg(max("value").as("last"))

  test("a window that tumbles, and one that slides") {
    assert(lengths("tumbling")(df =>
      counted(df, window(col("value"), "1 minute")).withE2ELatency("out", "last")
    ) ===
      Map("out" -> 60000))
    assert(
      lengths("sliding")(df =>
        counted(df, window(col("value"), "90 seconds", "30 seconds")).withE2ELatency("out", "last")
      ) === Map("out" -> 90000)
    )
  }

  test("of two windows each node has its own, and nodes behind it that keep no state have none") {
    val found = lengths("two_windows", "append") { df =>
      val first = df.groupBy(window(col("value"), "10 seconds").as("in")).agg(max("value").as("last"))
        .withE2ELatency("first", "last")
      val second = first.groupBy(window(window_time(col("in")), "1 hour")).agg(max("last").as("last"))
      second.withE2ELatency("second", "last").withColumn("work", lit(1)).withE2ELatency("behind", "last")
    }
    assert(found === Map("first" -> 10000, "second" -> 3600000))
  }

  test("automatic nodes know it, without generated code, too") {
    for (compiled <- Seq(true, false))
      withSettings(everything :+ "spark.sql.codegen.wholeStage" -> compiled.toString: _*) {
        val found = lengths(s"automatic_$compiled", "append")(counted(_, window(col("value"), "2 minutes")))
        assert(found === Map("aggregate-1" -> 120000))
      }
  }

  test("what is no window of time has no length") {
    assert(lengths("not_windowed")(counted(_, col("value")).withE2ELatency("out", "last")) === Map.empty)
    assert(lengths("no_state")(_.withColumn(
      "in",
      window(col("value"), "1 minute")
    ).withE2ELatency("out", "value")) ===
      Map.empty)
  }
}
