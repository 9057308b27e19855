package io.sparklatency.spark

import java.util.concurrent.ConcurrentLinkedQueue

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.Encoders
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.WholeStageCodegenExec
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.Plans
import org.apache.spark.sql.latency.Repeatable
import org.apache.spark.sql.latency.TemporaryFolder
import org.apache.spark.sql.latency.recording.UnrepeatableExec

/**
 * Whether Spark is told that a shuffle behind an ingestion timestamp comes out otherwise when a task runs again. What it then does with a
 * lost one needs an application of its own: `test_lost_shuffles.py`.
 */
class LostShufflesSuite extends StreamingTest {
  private val plain = Seq(
    "spark.sql.adaptive.enabled" -> "false",
    "spark.sql.adaptive.streaming.stateless.enabled" -> "false",
    "spark.sql.streaming.statefulOperator.checkCorrectness.enabled" -> "false"
  )

  private lazy val folder: String = {
    val folder = TemporaryFolder("rows").toString
    spark.range(0, 100, 1, 2).write.mode("overwrite").parquet(folder)
    folder
  }

  private def rows: DataFrame = spark.read.parquet(folder)

  private def files: DataFrame = spark.readStream.schema("id LONG").parquet(folder)

  private val keyed: Seq[(String, DataFrame => DataFrame)] = Seq(
    "a key of the record" -> (_.repartition(3, col("id"))),
    "a key, behind a filter by the stamp" -> (_.filter("ingestion_time > TIMESTAMP_MILLIS(5)").repartition(
      3,
      col("id")
    )),
    "the groups of a maximum" -> (_.groupBy(col("id") % 7).agg(max("ingestion_time"))),
    "a key, behind what is observed" ->
      (_.observe("seen", max("ingestion_time")).repartition(3, col("id"))),
    "a key of a broadcast join" ->
      (_.join(broadcast(spark.range(9).toDF("k")), col("id") === col("k")).repartition(3, col("k"))),
    "a key of a sorted join" ->
      (_.join(spark.range(9).toDF("k").hint("merge"), col("id") === col("k")).repartition(3, col("k") + 1)),
    "a key of what is exploded" ->
      (_.withColumn("one", explode(array(col("id"), lit(1)))).repartition(3, col("one"))),
    "a key, behind a mark" -> (_.withE2ELatency("keyed", "ingestion_time").repartition(3, col("id"))),
    "one partition" -> (_.repartition(1)),
    "rows in turn that the stamp is dropped from" ->
      (_.withE2ELatency("dropped", "ingestion_time").drop("ingestion_time").repartition(3))
  )

  private val dealt: Seq[(String, DataFrame => DataFrame)] = Seq(
    "rows in turn" -> (_.repartition(3)),
    "rows in turn, of which a filter by the stamp leaves some" ->
      (_.filter("ingestion_time > TIMESTAMP_MILLIS(5)").drop("ingestion_time").repartition(3)),
    "rows in turn, of groups that a filter by the stamp leaves" ->
      (_.filter(
        "ingestion_time > TIMESTAMP_MILLIS(5)"
      ).groupBy("id").agg(count("*")).select("id").repartition(3)),
    "a key made of the stamp of a group" ->
      (_.groupBy("id").agg(expr("ingestion_time()").as("made")).repartition(3, col("made"))),
    "a window by the stamp" -> (_.groupBy(window(col("ingestion_time"), "1 second")).count()),
    "a key made of the stamp" -> (_.repartition(3, hour(col("ingestion_time")))),
    "a key made of the maximum of stamps" ->
      (_.groupBy("id").agg(max("ingestion_time").as("last")).groupBy("last").count()),
    "a key that a function makes of all columns" ->
      (_.map(_.toString)(Encoders.STRING).toDF("made").repartition(3, col("made"))),
    "a union, where one side has a stamp" ->
      (df => df.union(files.withColumn("t", lit(0).cast("timestamp"))).repartition(3))
  )

  private def executed(df: DataFrame): SparkPlan =
    firstPlan(df, if (df.queryExecution.analyzed.toString.contains("Aggregate")) "complete" else "append")

  for ((what, shape) <- keyed) test(s"a stamp leaves repeatable what goes by $what") {
    withSettings(plain: _*) {
      val plan = executed(shape(files.withIngestionTimestamp()))
      assert(Repeatable.shuffles(plan).distinct === Seq(true), plan)
      assert(Plans.collect(plan) { case unrepeatable: UnrepeatableExec => unrepeatable } === Nil)
    }
  }

  for ((what, shape) <- dealt) test(s"Spark is told that a stamp makes other rows of what goes by $what") {
    withSettings(plain: _*) {
      val plan = executed(shape(files.withIngestionTimestamp()))
      assert(Repeatable.shuffles(plan).head === false, plan)
    }
  }

  test("what comes out of a plan with a stamp is told, for other plans go on with it") {
    val settings = Seq(
      Nil,
      Seq("spark.sql.codegen.wholeStage" -> "false"),
      Seq("spark.sql.codegen.factoryMode" -> "NO_CODEGEN", "spark.sql.codegen.wholeStage" -> "false"),
      Seq("spark.sql.adaptive.enabled" -> "true")
    )
    for (more <- settings) withSettings(plain ++ more: _*) {
      val stamped = rows.withIngestionTimestamp()
      assert(!Repeatable.is(stamped.queryExecution.toRdd))
      assert(!Repeatable.is(stamped.rdd))
      assert(!Repeatable.is(stamped.repartition(3).rdd))
      assert(!Repeatable.is(stamped.orderBy("ingestion_time").limit(3).rdd))
      assert(Repeatable.is(rows.rdd))
      assert(Repeatable.is(stamped.drop("ingestion_time").rdd))
      assert(Repeatable.is(stamped.withE2ELatency(freshNode(), "ingestion_time").select("id").rdd))
      val cached = stamped.cache()
      try assert(!Repeatable.is(cached.select("id").rdd))
      finally cached.unpersist()
    }
  }

  test("what foreachBatch makes of a stamped batch is told, though its plan does not know of the stamp") {
    withSettings(plain: _*) {
      val seen = new ConcurrentLinkedQueue[Boolean]
      val query = files.withIngestionTimestamp().writeStream.foreachBatch { (batch: DataFrame, _: Long) =>
        seen.add(Repeatable.is(batch.repartition(3).rdd))
        ()
      }.start()
      try query.processAllAvailable()
      finally query.stop()
      assert(seen.toArray.toSeq === Seq(false))
    }
  }

  test("what a sink of rows is given does not make its shuffles unrepeatable") {
    withSettings(plain: _*) {
      val plan = rows.withIngestionTimestamp().repartition(3, col("id")).queryExecution.executedPlan
      assert(Repeatable.shuffles(plan) === Seq(true))
      assert(!Repeatable.is(plan.execute()))
    }
  }

  test("it takes part in the stage of generated code, and reads columns as without it") {
    withSettings(plain: _*) {
      val plan = rows.withIngestionTimestamp().filter("id > 10").queryExecution.executedPlan
      val stages = plan.collect { case stage: WholeStageCodegenExec => stage }
      val operators = plan.map(_.nodeName.takeWhile(_ != ' ')).mkString(" ")
      assert(
        operators === "WholeStageCodegen Unrepeatable Filter Project ColumnarToRow InputAdapter Scan",
        plan
      )
      assert(stages.size === 1)
    }
  }
}
