package io.sparklatency.spark

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.Row
import org.apache.spark.sql.execution.ProjectExec
import org.apache.spark.sql.execution.UnionExec
import org.apache.spark.sql.execution.WholeStageCodegenExec
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.Plans
import org.apache.spark.sql.latency.TemporaryFolder
import org.apache.spark.sql.types.MetadataBuilder

/** How a timestamp comes along to the end of a query that drops it. */
class CarriedTimestampSuite extends StreamingTest {

  for ((how, codegen) <- Seq("compiled" -> "CODEGEN_ONLY", "interpreted" -> "NO_CODEGEN"))
    test(s"a timestamp that the query drops comes along to its end, and no column more comes out, $how") {
      withSettings(
        "spark.sparklatency.auto" -> "source,terminal",
        "spark.sql.codegen.factoryMode" -> codegen,
        "spark.sql.codegen.wholeStage" -> (how == "compiled").toString
      ) {
        val input = stream
        val dropped =
          watermarked(input)
            .filter(col("value") > lit(ago(60000).head))
            .select(lit(1).as("one"), unix_millis(col("value")).as("at")).filter(col("at") % 2 === 0)
        val steps = dropped.select((col("at") % 1000).as("rest"), col("one"))
        var written = Seq.empty[Row]
        val query = steps.writeStream.queryName(s"auto_carried_$how")
          .foreachBatch((batch: DataFrame, _: Long) => written ++= batch.collect()).start()
        try {
          input.addData(ago(10, 11, 500, 90000))
          processAll(query)
          assert(node("sink", s"auto_carried_$how").figures === ((2, Some(10), Some(500))))
          assert(node("source-0-memory", s"auto_carried_$how").figures === ((4, Some(10), Some(90000))))
          assert(written.map(_.getLong(0)).sorted === ago(10, 500).map(_.getTime % 1000).sorted)
          assert(written.map(_.schema.fieldNames.toSeq).distinct === Seq(Seq("rest", "one")))
        } finally query.stop()
      }
    }

  test(
    "a timestamp comes along through an explosion, a join with a static table, and projections above and below"
  ) {
    withSettings("spark.sparklatency.auto" -> "terminal") {
      val static = spark.range(2000).toDF("key")
      val ways = Seq[(String, DataFrame => DataFrame, Long)](
        ("exploded", _.select(explode(array(lit(1), lit(2))).as("one")), 2),
        (
          "observed",
          _.select(lit(1).as("one")).observe("seen", count(lit(1)).as("rows")).select(col("one") + 1),
          1
        ),
        ("coalesced", _.select(lit(1).as("one")).coalesce(1).select(col("one") + 1), 1),
        ("joined", _.select((unix_millis(col("value")) % 2000).as("key")).join(broadcast(static), "key"), 1),
        (
          "joined_left",
          _.select((unix_millis(col("value")) % 2000).as("key")).join(broadcast(static), Seq("key"), "left")
            .select(col("key") + 1),
          1
        ),
        ("crossed", _.select(lit(1).as("one")).crossJoin(broadcast(spark.range(3).toDF("key"))), 3),
        (
          "joined_left_by_a_range",
          _.select(lit(1L).as("one")).join(broadcast(spark.range(3).toDF("key")), expr("one <= key"), "left"),
          2
        ),
        (
          "joined_right_by_a_range",
          df =>
            broadcast(spark.range(3).toDF("key")).join(
              df.select(lit(1L).as("one")),
              expr("one <= key"),
              "right"
            ),
          2
        )
      )
      for ((name, steps, rows) <- ways) {
        val input = stream
        val query = start(steps(watermarked(input)), s"auto_$name")
        try {
          input.addData(ago(1500))
          processAll(query)
          assert(node("sink", s"auto_$name").figures === ((rows, Some(1500), Some(1500))), name)
        } finally query.stop()
      }
    }
  }

  test("the end does not go by a table that was once written with a watermark, and is joined to the stream") {
    withSettings("spark.sparklatency.auto" -> "terminal") {
      val watermark = new MetadataBuilder().putLong("spark.watermarkDelayMs", 10000).build()
      val folder = TemporaryFolder("stored").toString
      spark.range(2000).select(col("id").as("key"), lit(ago(60000).head).as("updated", watermark))
        .write.mode("overwrite").parquet(folder)
      val table = spark.read.parquet(folder)
      assert(table.schema("updated").metadata === watermark)
      val renamed = table.withColumnRenamed("updated", "changed")
      val ways = Seq[(String, DataFrame => DataFrame)](
        ("as_it_is", _.join(broadcast(table), "key")),
        ("renamed_before", _.join(broadcast(renamed), "key")),
        ("renamed_behind", _.join(broadcast(table), "key").withColumnRenamed("updated", "changed")),
        ("twice", _.join(broadcast(table), "key").join(broadcast(renamed), "key"))
      )
      for ((name, steps) <- ways) {
        val input = stream
        val query =
          start(
            steps(watermarked(input).select((unix_millis(col("value")) % 2000).as("key"))),
            s"auto_stored_$name"
          )
        try {
          input.addData(ago(1500))
          processAll(query)
          assert(node("sink", s"auto_stored_$name").figures === ((1, Some(1500), Some(1500))), name)
        } finally query.stop()
      }
      // A mark by hand goes by the watermark of the query, too, and across a shuffle it is that which is carried.
      val marked = stream
      val byHand = watermarked(marked).withColumn("key", unix_millis(col("value")) % 2000)
        .join(broadcast(renamed), "key").withE2ELatency("by hand")
      val query = start(byHand, "auto_stored_by_hand")
      try {
        marked.addData(ago(1500))
        processAll(query)
        assert(node("by hand", "auto_stored_by_hand").figures === ((1, Some(1500), Some(1500))))
      } finally query.stop()
      val failed = intercept[IllegalArgumentException](byHand.drop("value").withE2ELatency("by a table"))
      assert(failed.getMessage.contains("no column here has a watermark"), failed.getMessage)
      val never = stream.toDF().withColumn("key", unix_millis(col("value")) % 2000)
        .join(broadcast(table), "key").select("key", "updated")
      val none = intercept[IllegalArgumentException](never.withE2ELatency("by a table"))
      assert(
        none.getMessage.contains("no column here has a watermark") && !none.getMessage.contains("drops"),
        none.getMessage
      )
      val grouped = never.groupBy(col("updated").as("renamed")).count()
      assert(intercept[IllegalArgumentException](grouped.withE2ELatency("by a group")).getMessage.contains(
        "no column here has a watermark"
      ))
      val chosen = never.withWatermark("updated", "10 seconds").withE2ELatency("by choice")
      assert(chosen.schema === never.schema)
      val united = watermarked(stream).select("value").union(never.select("updated"))
      assert(united.withE2ELatency("by the first side").schema === united.schema)
      withSettings("spark.sparklatency.auto.acrossShuffles" -> "true") {
        val (input, name) = (stream, "auto_stored_across")
        val shuffled = watermarked(input).select((unix_millis(col("value")) % 2000).as("key"))
          .join(broadcast(table), "key").select("key", "updated").repartition(4)
        val query = start(shuffled, name)
        try {
          input.addData(ago(1500))
          processAll(query)
          assert(node("sink", name).figures === ((1, Some(1500), Some(1500))))
        } finally query.stop()
      }
    }
  }

  test("timestamps come along through a union, where each side has one") {
    withSettings("spark.sparklatency.auto" -> "terminal") {
      val ended = lit("2000-01-01 00:00:00").cast("timestamp")
      for ((name, isWatermarked) <- Seq("auto_united" -> true, "auto_half_united" -> false)) {
        val (one, two) = (stream, stream)
        val other = (if (isWatermarked) watermarked(two) else two.toDF()).select(ended, lit(2))
        one.addData(ago(10, 11))
        two.addData(ago(500))
        var written = Seq.empty[Row]
        val query = watermarked(one).select(col("value"), lit(1)).union(other).filter(col("value").isNotNull)
          .select(col("1") * 2).writeStream.queryName(name)
          .foreachBatch((batch: DataFrame, _: Long) => written ++= batch.collect()).start()
        try {
          processAll(query)
          assert(findNode("sink", name).map(_.figures) ===
            Option.when(isWatermarked)((3, Some(10), Some(500))))
          assert(written.map(_.toSeq).sortBy(_.toString) === Seq(Seq(2), Seq(2), Seq(4)))
        } finally query.stop()
      }
    }
  }

  test(
    "a union has the partitions that it had, also where a column that comes along would make fewer of them"
  ) {
    def partitions(settings: (String, String)*): Seq[Int] =
      withSettings((settings :+ ("spark.sql.adaptive.enabled" -> "false")): _*) {
        val input = stream
        def half = watermarked(input).repartition(3, col("value")).select(lit(1))
        val query = start(half.union(half), "")
        try {
          input.addData(ago(10, 500))
          processAll(query)
          Plans.collect(Plans.executed(query)) { case union: UnionExec =>
            union.outputPartitioning.numPartitions
          }
        } finally query.stop()
      }
    assert(partitions("spark.sparklatency.auto" -> "terminal") === partitions())
  }

  test("no column is carried where Spark would no longer compile an operator that has one more") {
    withSettings("spark.sparklatency.auto" -> "terminal", "spark.sql.codegen.maxFields" -> "20") {
      for ((columns, records) <- Seq(19 -> 1L, 20 -> 0L)) {
        val input = stream
        val wide =
          watermarked(input).select((1 to columns).map(i => (unix_millis(col("value")) + i).as(s"c$i")): _*)
        val query = start(wide, s"auto_wide_$columns")
        try {
          input.addData(ago(1500))
          processAll(query)
          val plan = Plans.executed(query)
          val compiled = plan.collect { case stage: WholeStageCodegenExec => stage }
          assert(compiled.exists(_.collectFirst { case project: ProjectExec => project }.nonEmpty), plan)
          assert(nodesOf(s"auto_wide_$columns").count(_ == "sink") === records, plan)
        } finally query.stop()
      }
    }
  }

  test("the timestamp is found through renames, windows, unions and max, and a window is as old as its end") {
    withSettings("spark.sparklatency.auto" -> "terminal") {
      val cases = Seq[(String, DataFrame => DataFrame, Long)](
        ("renamed", _.select(col("value").as("a")).select(col("a").as("b")), 1500),
        ("window", _.groupBy(window(col("value"), "1 second")).count(), 1000),
        ("max", _.groupBy(window(col("value"), "1 second")).agg(max("value").as("m")), 1500),
        ("max_only", _.groupBy(lit(1)).agg(max("value").as("m")).select("m"), 1500),
        ("window_unread", _.groupBy(window(col("value"), "1 second")).count().select("count"), 1000),
        ("max_as_text", _.groupBy(lit(1)).agg(max("value").as("m")).select(col("m").cast("string")), 1500),
        (
          "window_as_text",
          _.groupBy(window(col("value"), "1 second")).count().select(to_json(struct("*")).as("text"))
            .where(length(col("text")) > 1).select(upper(col("text"))),
          1000
        )
      )
      for ((name, steps, age) <- cases) {
        val input = stream
        val query = start(steps(watermarked(input)), s"auto_$name", "update")
        try {
          input.addData(ago(1500))
          processAll(query)
          assert(node("sink", s"auto_$name").figures === ((1, Some(age), Some(age))), name)
        } finally query.stop()
      }
    }
  }
}
