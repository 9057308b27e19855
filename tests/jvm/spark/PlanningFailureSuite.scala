package org.apache.spark.sql.latency

import java.sql.Timestamp
import java.util.UUID

import io.sparklatency.spark.Logged
import io.sparklatency.spark.StreamingTest
import io.sparklatency.spark.syntax._
import org.apache.spark.SparkContext
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.application.LatencyApplication
import org.apache.spark.sql.latency.application.LatencyExtensions
import org.apache.spark.sql.latency.planning.AcrossShuffles
import org.apache.spark.sql.latency.planning.AutomaticNodes
import org.apache.spark.sql.latency.planning.LatencyMarkStrategy
import org.apache.spark.sql.latency.planning.MarkedApplication
import org.apache.spark.sql.latency.planning.MarksAsOperators
import org.apache.spark.sql.latency.planning.TerminalNodes
import org.apache.spark.sql.latency.planning.UnrecordedMarks
import org.apache.spark.sql.latency.planning.UnrepeatableStamps
import org.apache.spark.sql.latency.tracking.PlannedPath

/** A class that is missing, as where the jar is another Spark line's, does not fail the queries of the session. */
class PlanningFailureSuite extends StreamingTest {

  private object Broken extends MarkedApplication.Finder {
    override def of(context: SparkContext): MarkedApplication =
      throw new NoClassDefFoundError("org/apache/spark/Moved")
  }

  private val missing = "java.lang.NoClassDefFoundError: org/apache/spark/Moved"

  test("a query that is marked by hand runs without its nodes, and the log says so once") {
    val id = freshNode()
    val rows = spark.range(3).select(col("id"), timestamp_millis(col("id")).as("ts"))
    spark.experimental.extraStrategies = Seq(LatencyMarkStrategy(Broken))
    try {
      val log = Logged.during {
        for (_ <- 1 to 2)
          assert(rows.withE2ELatency(id, "ts").collect().map(_.getLong(0)).sorted === Array(0, 1, 2))
      }
      assert(log.filter(_.contains("Moved")) === Seq(s"node '$id' is not measured: $missing"))
      assert(findNode(id).isEmpty)
    } finally spark.experimental.extraStrategies = Nil
  }

  test("what is planned when the session has stopped is planned without its nodes") {
    val marked = spark.range(3).select(timestamp_millis(col("id")).as("ts")).withE2ELatency(freshNode(), "ts")
    val plan = marked.queryExecution.analyzed
    def planned = LatencyMarkStrategy(LatencyApplication)(plan).map(_.nodeName)
    assert(Sessions.without(spark)(planned) === Seq("PlanLater"))
    assert(planned !== Seq("PlanLater"))
  }

  test("a plan in which marks are looked for stays as it is") {
    val marked = spark.range(3).select(timestamp_millis(col("id")).as("ts")).withE2ELatency(freshNode(), "ts")
    val plan = marked.queryExecution.analyzed
    assert(UnrecordedMarks(spark, Broken)(plan) eq plan)
  }

  test("a plan whose way nobody can tell stays as it is") {
    val marked = spark.range(3).select(timestamp_millis(col("id")).as("ts")).withE2ELatency(freshNode(), "ts")
    val plan = marked.queryExecution.sparkPlan
    assert(PlannedPath(spark, Broken).preColumnarTransitions(plan) eq plan)
  }

  test("a plan that is to be marked automatically stays as it is, and the log says so once") {
    val input = stream
    val query = start(watermarked(input).dropDuplicates("value"), "broken_plan")
    val plan =
      try {
        input.addData(Seq(new Timestamp(Start)))
        processAll(query)
        Plans.executed(query)
      } finally query.stop()
    withSettings(everything: _*) {
      val log = Logged.during {
        for (_ <- 1 to 2) assert(AutomaticNodes(spark, Broken).preColumnarTransitions(plan) eq plan)
      }
      assert(log.filter(_.contains("Moved")) === Seq(s"not marked automatically: $missing"))
    }
  }

  test("a plan that nobody can walk passes each of our rules as it is") {
    withSettings(everything: _*) {
      val rules = Seq(
        AutomaticNodes(spark, LatencyApplication),
        MarksAsOperators(spark),
        TerminalNodes(spark),
        PlannedPath(spark, LatencyApplication),
        UnrepeatableStamps(spark)
      )
      for (rule <- rules) {
        val plan = Unwalkable()
        assert(rule.preColumnarTransitions(plan) eq plan, rule)
      }
    }
  }

  test("a builder that makes a second session, and so applies our rules again, has each of them once") {
    val extensions = new SparkSessionExtensions
    val rules = for (_ <- 1 to 2) yield {
      new LatencyExtensions()(extensions)
      extensions.buildColumnarRules(spark).size
    }
    assert(rules.head > 0 && rules.distinct.size === 1)
  }

  test("a timestamp that would come through a shuffle stays where it is") {
    val plan = watermarked(stream).repartition(2).select(lit(1)).queryExecution.analyzed
    val query = "sql.streaming.queryId"
    withSettings(
      "spark.sparklatency.auto" -> "terminal",
      "spark.sparklatency.auto.acrossShuffles" -> "true"
    ) {
      spark.sparkContext.setLocalProperty(query, UUID.randomUUID.toString)
      try {
        val rule = AcrossShuffles(spark, Broken)
        assert(rule(plan) eq plan)
      } finally spark.sparkContext.setLocalProperty(query, null)
    }
  }
}

/** An operator that finds a class missing when it is asked what is below. */
private final case class Unwalkable() extends SparkPlan {
  override def children: Seq[SparkPlan] = throw new NoClassDefFoundError("org/apache/spark/Moved")
  override def output: Seq[Attribute] = Nil
  override protected def doExecute(): RDD[InternalRow] = throw new UnsupportedOperationException
  override protected def withNewChildrenInternal(children: IndexedSeq[SparkPlan]): SparkPlan = this
}
