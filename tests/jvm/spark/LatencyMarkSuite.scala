package io.sparklatency.spark

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.WholeStageCodegenExec
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.functions.timestamp_millis

class LatencyMarkSuite extends SparkTest with AdaptiveSparkPlanHelper {

  private def rows: DataFrame =
    spark.range(0, 10, 1, 2).select(col("id"), timestamp_millis(col("id")).as("ts"))

  private def executed(df: DataFrame): SparkPlan = {
    df.collect()
    df.queryExecution.executedPlan
  }

  private def stages(df: DataFrame): Int = collect(executed(df)) { case stage: WholeStageCodegenExec =>
    stage
  }.size
  private def shuffles(df: DataFrame): Int = collect(executed(df)) { case shuffle: ShuffleExchangeExec =>
    shuffle
  }.size

  test("a mark is planned within the code generation stage of its neighbours, and shows in its plan") {
    val node = freshNode()
    val marked = rows.withE2ELatency(node, "ts")
    val (plan, plain) = (executed(marked), executed(rows))
    def operators(stage: SparkPlan) = collect(stage) { case operator => operator.nodeName }
    assert(stages(marked) === 1 && stages(rows) === 1)
    assert(operators(plan).diff(operators(plain)) === Seq("RecordLatency"))
    assert(plan.toString.linesIterator.exists(
      _.matches(s""".*\\*\\(1\\) RecordLatency .*record_e2e_latency\\($node, ts.*\\)""")
    ))
  }

  test("marks below and above a shuffle add no stage and no shuffle") {
    def query(mark: (DataFrame, String) => DataFrame) =
      mark(mark(rows, freshNode()).groupBy(col("ts")).count(), freshNode())
    val plain = query((df, _) => df)
    val marked = query((df, node) => df.withE2ELatency(node, "ts"))
    assert((stages(marked), shuffles(marked)) === ((stages(plain), shuffles(plain))))
  }

  test("what follows a mark stays in the method of generated code in which it is without the mark") {
    def methods(df: DataFrame) = collect(executed(df)) { case stage: WholeStageCodegenExec =>
      "private \\w+ \\w+_doConsume_".r.findAllIn(stage.doCodeGen()._2.body).size
    }.sum
    def query(mark: DataFrame => DataFrame) = mark(rows).groupBy(col("id") % 3, col("ts")).count()
    val plain = methods(query(identity))
    assert(plain > 0)
    assert(methods(query(_.withE2ELatency(freshNode(), "ts"))) === plain)
  }

  test("partitioning and ordering pass a mark, so that nothing is shuffled or sorted again") {
    val sorted = rows.repartition(2, col("id")).sortWithinPartitions("id")
    val counted = sorted.withE2ELatency(freshNode(), "ts").groupBy("id").count()
    assert((shuffles(counted), shuffles(sorted.groupBy("id").count())) === ((1, 1)))
    val marked = sorted.withE2ELatency(freshNode(), "ts").queryExecution.sparkPlan
    assert(marked.outputOrdering === marked.children.head.outputOrdering)
    assert(marked.outputPartitioning === marked.children.head.outputPartitioning)
  }

  test("sorted partitions that Spark would merge in one task through a filter it merges through a mark") {
    def all(of: Class[_]): Set[String] =
      of.getInterfaces.toSet[Class[_]].flatMap(part => all(part) + part.getName) ++
        Option(of.getSuperclass).fold(Set.empty[String])(all)
    def isSafe(operator: Class[_]) = all(operator)("org.apache.spark.sql.execution.SafeForKWayMerge")
    val ofSpark = isSafe(classOf[org.apache.spark.sql.execution.FilterExec])
    assert(isSafe(classOf[org.apache.spark.sql.latency.recording.RecordLatencyExec]) === ofSpark)
    assert(isSafe(classOf[org.apache.spark.sql.latency.recording.UnrepeatableExec]) === ofSpark)
  }

  test("the partitions that the last step asks for stay, though an adaptive plan needs no shuffle for them") {
    withSettings(
      "spark.sql.adaptive.enabled" -> "true",
      "spark.sql.autoBroadcastJoinThreshold" -> "-1",
      "spark.sql.adaptive.autoBroadcastJoinThreshold" -> "-1"
    ) {
      val asked = spark.conf.get("spark.sql.shuffle.partitions").toInt
      def partitions(mark: DataFrame => DataFrame): Int =
        mark(rows.join(
          rows.select("id"),
          "id"
        ).repartition(asked, col("id"))).queryExecution.toRdd.getNumPartitions
      assert(Seq(partitions(identity), partitions(_.withE2ELatency(freshNode(), "ts"))) === Seq(asked, asked))
    }
  }

  test("the watermark of a column passes a mark") {
    val stream = spark.readStream.format("rate").load().withWatermark("timestamp", "1 second")
    val marked = stream.withE2ELatency(freshNode()).queryExecution.analyzed
    assert(marked.output.exists(_.metadata.contains(EventTimeWatermark.delayKey)))
  }

  test("columns that nobody reads are pruned through a mark") {
    val wide = rows.withColumn("unread", col("id") + 1).withE2ELatency(freshNode(), "ts").select("id")
    assert(!wide.queryExecution.optimizedPlan.exists(_.output.exists(_.name == "unread")))
  }

  test("at NONE, or above the level that is set, the plan is that of the query without the node") {
    def query(mark: DataFrame => DataFrame) =
      mark(rows.withColumn("x", col("id") * 2)).filter(col("x") > 3).select("x")
    val plain = query(identity)
    withSettings("spark.sparklatency.recording.level" -> "NONE") {
      assert(query(_.withE2ELatency(
        "off",
        "ts"
      )).queryExecution.optimizedPlan.sameResult(plain.queryExecution.optimizedPlan))
      assert(query(_.hint(
        "E2E_LATENCY",
        "off",
        "ts"
      )).queryExecution.executedPlan.sameResult(plain.queryExecution.executedPlan))
    }
    assert(query(_.withE2ELatency("fine", "ts", level = "TRACE")).queryExecution.executedPlan
      .sameResult(plain.queryExecution.executedPlan))
    withSettings("spark.sparklatency.recording.level" -> "trace") {
      assert(!query(_.withE2ELatency("fine", "ts", level = "DEBUG")).queryExecution.executedPlan
        .sameResult(plain.queryExecution.executedPlan))
    }
  }

  test("a result is the same with a mark as without") {
    assert(rows.withE2ELatency(freshNode(), "ts").collect().toSet === rows.collect().toSet)
  }

  test("a typed Dataset keeps its type") {
    import spark.implicits._
    val numbers = spark.range(3).withColumn("ts", timestamp_millis(col("id"))).as[(Long, java.sql.Timestamp)]
    assert(numbers.withE2ELatency(freshNode(), "ts").map(_._1).collect().sorted === Array(0L, 1L, 2L))
  }

  test("a hint in a view that has a collation of its own") {
    val id = freshNode()
    rows.createOrReplaceTempView("collated")
    spark.sql("CREATE OR REPLACE TEMPORARY VIEW collated_view DEFAULT COLLATION UNICODE_CI AS " +
      s"SELECT /*+ E2E_LATENCY('$id', ts, 'INFO') */ * FROM collated")
    run(spark.table("collated_view"))
    assert(node(id).records === 10)
  }
}
