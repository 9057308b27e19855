package io.sparklatency.spark

import java.sql.Timestamp

import io.sparklatency.spark.Lines.MemoryStream
import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.ListenerBus
import org.apache.spark.sql.latency.Plans
import org.apache.spark.sql.streaming.StreamingQueryException

/** Each query can have a recording level of its own. */
class QueryLevelSuite extends StreamingTest {
  private val key = "spark.sparklatency.recording.level"

  /** A filter that the optimizer moves, where no mark is in its way. */
  private def steps(df: DataFrame, mark: (DataFrame, String) => DataFrame): DataFrame =
    mark(
      mark(df.withColumn("x", col("value").cast("long")), "INFO").filter(col("x") > 0),
      "DEBUG"
    ).select("value")

  private def byHand(df: DataFrame, level: String): DataFrame = df.withE2ELatency(level, "value", level)

  /** The plan of the batch that read, and the nodes that have figures. */
  private def plan(df: DataFrame => DataFrame, name: String): (String, Int) = {
    var found = ("", 0)
    val input = stream
    val query = start(df(watermarked(input)), name)
    try {
      input.addData(ago(3))
      processAll(query)
      val executed = Plans.executed(query)
      found = (Plans.withoutMarks(executed), Plans.marks(executed))
    } finally query.stop()
    found
  }

  private def nodes(name: String): Seq[String] = {
    ListenerBus.awaitEmpty(spark.sparkContext)
    nodesOf(name)
  }

  test("a query's own level records more, and less, than the level of all") {
    withSettings(s"$key.level_debug" -> "debug", s"$key.level_none" -> "NONE") {
      val marked = (df: DataFrame) => steps(df, byHand)
      assert(plan(marked, "level_debug")._2 === 2)
      assert(nodes("level_debug") === Seq("INFO", "DEBUG"))
      assert(plan(marked, "level_of_all")._2 === 1)
      assert(nodes("level_of_all") === Seq("INFO"))
      assert(plan(marked, "level_none")._2 === 0)
    }
  }

  test("a level that excludes the nodes of a query leaves its plan as if they had not been written") {
    val (plain, _) = plan(df => steps(df, (df, _) => df), "level_plain")
    withSettings(s"$key.level_off" -> "NONE") {
      assert(plan(steps(_, byHand), "level_off") === ((plain, 0)))
      // Without its level the query has a plan in which the mark is a fence.
      assert(plan(steps(_, byHand), "level_on")._1 !== plain)
    }
    // A mark that is kept for another query is gone, too.
    withSettings(key -> "NONE", s"$key.level_other" -> "TRACE") {
      assert(plan(steps(_, byHand), "level_off") === ((plain, 0)))
    }
  }

  test("a query has the level of its name also where another query of that name is shown under it") {
    withSettings(s"$key.level_twin" -> "NONE") {
      val other = spark.newSession()
      other.conf.set(s"$key.level_twin", "NONE")
      val inputs = Seq(spark, other).map(MemoryStream[Timestamp](_))
      val queries = inputs.map(input => start(byHand(input.toDF(), "INFO"), "level_twin"))
      try {
        inputs.foreach(_.addData(ago(3)))
        queries.foreach(processAll)
        assert(queries.map(query => Plans.marks(Plans.executed(query))) === Seq(0, 0))
      } finally queries.foreach(_.stop())
    }
  }

  test("automatic nodes have the level of their query") {
    withSettings("spark.sparklatency.auto" -> "source,terminal,stateful", s"$key.level_auto" -> "TRACE") {
      plan(_.dropDuplicates("value"), "level_auto")
      assert(nodes("level_auto") === Seq("source-0-memory", "deduplicate-1", "sink"))
      plan(_.dropDuplicates("value"), "level_auto_other")
      assert(nodes("level_auto_other") === Seq("source-0-memory", "sink"))
    }
  }

  test("a mark inside foreachBatch has the level of its query, and a batch query that of all batch queries") {
    withSettings(s"$key.level_inside" -> "DEBUG", s"$key.__batch__" -> "NONE") {
      val input = stream
      val query = watermarked(input).writeStream.queryName("level_inside")
        .foreachBatch { (batch: DataFrame, _: Long) => byHand(batch, "DEBUG").collect(); () }.start()
      try {
        input.addData(ago(3))
        processAll(query)
        assert(nodes("level_inside") === Seq("DEBUG"))
      } finally query.stop()
      val rows = spark.range(3).select(col("id"), timestamp_millis(col("id")).as("ts"))
      def batch(mark: DataFrame => DataFrame) =
        mark(rows.withColumn("x", col("id") * 2)).filter("x > 3").select("x")
      assert(batch(_.withE2ELatency("n", "ts")).queryExecution.executedPlan.sameResult(
        batch(identity).queryExecution.executedPlan
      ))
    }
  }

  test("a name that no query has changes nothing") {
    withSettings(s"$key.level_nobody" -> "NONE") {
      assert(plan(steps(_, byHand), "level_somebody")._2 === 1)
    }
  }

  test("an unknown level of any query fails the call that marks, and where it comes later its own query") {
    val said = s"$key.level_bad=LOUD is not valid: NONE, INFO, DEBUG, TRACE is allowed"
    withSettings(s"$key.level_bad" -> "LOUD") {
      assert(intercept[IllegalArgumentException](marked(stream)).getMessage === said)
    }
    val input = stream
    val ready = marked(input)
    withSettings(s"$key.level_bad" -> "LOUD") {
      val other = start(ready, "level_good")
      val query = start(ready, "level_bad")
      try {
        input.addData(ago(3))
        assert(intercept[StreamingQueryException](processAll(query)).getMessage.contains(said))
        processAll(other)
        assert(nodes("level_good") === Seq("source"))
      } finally Seq(query, other).foreach(_.stop())
    }
  }
}
