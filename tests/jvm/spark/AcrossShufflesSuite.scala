package io.sparklatency.spark

import scala.jdk.CollectionConverters._

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.Row
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.execution.joins.BroadcastHashJoinExec
import org.apache.spark.sql.execution.joins.ShuffledHashJoinExec
import org.apache.spark.sql.execution.joins.SortMergeJoinExec
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.Plans
import org.apache.spark.sql.latency.TemporaryFolder
import org.apache.spark.sql.streaming.StreamingQuery
import org.apache.spark.sql.streaming.Trigger

/** A timestamp that goes through shuffles to the end of a query that has dropped it: `spark.sparklatency.auto.acrossShuffles`. */
class AcrossShufflesSuite extends StreamingTest with Sampled {
  private val setting = "spark.sparklatency.auto.acrossShuffles"
  private val across = atEnds :+ (setting -> "true")
  private val noBroadcast = "spark.sql.autoBroadcastJoinThreshold" -> "-1"

  private val plannings = Seq(true, false)
  private def planning(adaptive: Boolean) =
    (s"adaptive planning being $adaptive", "spark.sql.adaptive.enabled" -> adaptive.toString)

  private def millis(df: DataFrame): DataFrame = df.select(unix_millis(col("value")).as("at"))
  private def static: DataFrame =
    spark.range(2000).select(col("id").as("rest"), (col("id") * 2).as("double"))
  private def keyed(df: DataFrame): DataFrame =
    df.select((unix_millis(col("value")) % 2000).as("rest"))

  /** Runs one batch of two records, 10 and 500 ms old. Returns the query, which has stopped, and what it wrote. */
  private def ran(name: String)(steps: DataFrame => DataFrame): (StreamingQuery, Seq[Row]) = {
    val input = stream
    var written = Seq.empty[Row]
    val query = steps(watermarked(input)).writeStream.queryName(name)
      .foreachBatch((batch: DataFrame, _: Long) => written ++= batch.collect()).start()
    try {
      input.addData(ago(10, 500))
      processAll(query)
      (query, written)
    } finally query.stop()
  }

  /** The columns of each shuffle of the last batch. */
  private def shuffled(query: StreamingQuery): Seq[Seq[String]] =
    Plans.collect(Plans.executed(query)) { case shuffle: ShuffleExchangeExec => shuffle.output.map(_.name) }

  private def notesOf(query: String): Seq[String] =
    latencyOf(query).get("queries").elements.asScala.flatMap(_.get("notes").elements.asScala)
      .map(_.get("text").asText).toSeq

  private def atEnd(query: String) = findNode("sink", query).map(_.figures)

  /** The name of a query, how many records it writes, and what it does. */
  private val shapes = Seq[(String, Long, DataFrame => DataFrame)](
    ("shuffled", 2, millis(_).repartition(3, col("at")).select((col("at") % 1000).as("rest"))),
    ("shuffled_last", 2, millis(_).filter(col("at") % 2 === 0).repartition(2)),
    (
      "shuffled_twice",
      2,
      millis(_).repartition(3).select((col("at") % 7).as("rest")).repartition(col("rest"))
    ),
    (
      "observed",
      2,
      millis(_).observe("before", count(lit(1)).as("rows")).repartition(3).observe(
        "after",
        count(lit(1)).as("rows")
      )
    ),
    ("exploded", 4, _.select(explode(array(lit(1), lit(2))).as("one")).repartition(2)),
    ("merged", 2, df => keyed(df).join(static.hint("merge"), "rest")),
    (
      "merged_as_they_are",
      2,
      df => keyed(df).toDF("key").join(static.hint("merge"), col("key") === col("rest"))
    ),
    ("merged_left", 2, df => keyed(df).join(static.hint("merge"), Seq("rest"), "left").select("double")),
    (
      "merged_after_work",
      2,
      df =>
        df.select(col("value"), explode(array(lit(0), lit(1))).as("more")).filter(col("more") === 0)
          .select(((unix_millis(col("value")) + col("more")) % 2000).as("rest")).join(
            static.hint("merge"),
            "rest"
          )
    ),
    ("hashed", 2, df => static.hint("shuffle_hash").join(keyed(df), "rest").select("double")),
    ("united", 4, df => millis(df).repartition(3).union(millis(df)).select(col("at") + 1)),
    (
      "united_and_shuffled",
      2,
      df => millis(df).union(millis(df).filter(col("at") === 0).repartition(2)).repartition(4)
    )
  )

  for (((shape, records, steps), adaptive) <- sample.of(shapes, plannings)) {
    val (how, planned) = planning(adaptive)
    test(s"what is written stays the same, and its ages are known: $shape, $how") {
      val (off, on) = (s"off_${shape}_$adaptive", s"on_${shape}_$adaptive")
      val expected = withSettings((atEnds :+ planned :+ noBroadcast): _*)(ran(off)(steps)._2)
      assert(atEnd(off) === None)
      withSettings((across :+ planned :+ noBroadcast): _*) {
        val (query, written) = ran(on)(steps)
        assert(atEnd(on) === Some((records, Some(10), Some(500))), Plans.executed(query))
        assert(written.map(_.toString).sorted === expected.map(_.toString).sorted)
        assert(nodesOf(on) === Seq("source-0-memory", "sink"))
        assert(node("sink", on).toString.contains("\"upstream\":[\"source-0-memory\"]"))
        assert(notesOf(on).filter(_.startsWith("Node")) === Nil)
        Plans.executed(query) match {
          case plan: AdaptiveSparkPlanExec => assert(plan.executedPlan.output === plan.inputPlan.output)
          case plan => assert(plan.output.map(_.name) === written.head.schema.names.toSeq)
        }
      }
    }
  }

  for (adaptive <- sample.modesOf(0, plannings)) {
    val (how, planned) = planning(adaptive)

    for (format <- Seq("parquet", "csv"))
      test(s"files of $format hold what they held, $how") {
        def files(name: String, settings: (String, String)*): Seq[String] =
          withSettings((settings :+ planned): _*) {
            val folder = TemporaryFolder(name).toString
            val input = stream
            val rows =
              watermarked(input).select(explode(array(
                lit(7),
                unix_millis(col("value"))
              )).as("one")).repartition(2)
            val query =
              rows.writeStream.format(format).option(
                "checkpointLocation",
                s"$folder/checkpoint"
              ).queryName(name)
                .start(s"$folder/data")
            try {
              input.addData(ago(10, 500))
              processAll(query)
            } finally query.stop()
            spark.read.schema(
              "one bigint"
            ).format(format).load(s"$folder/data").collect().map(_.toString).toSeq.sorted
          }
        val name = s"files_${format}_$adaptive"
        assert(files(name, across: _*) === files(s"off_$name"))
        assert(atEnd(name) === Some((4, Some(10), Some(500))))
      }

    for (isShuffled <- Seq(true, false))
      test(s"to the end it comes through what the sink itself asks for, shuffled being $isShuffled, $how") {
        def written(name: String, settings: (String, String)*): Seq[Seq[Int]] =
          withSettings((settings :+ planned): _*) {
            val input = stream
            val query = watermarked(input).select(explode(array(lit(7), lit(8))).as("one"))
              .writeStream.format(classOf[DealtTable].getName).option("shuffled", isShuffled)
              .option("checkpointLocation", TemporaryFolder(name).toString).queryName(name).start()
            try {
              input.addData(ago(10, 500))
              processAll(query)
              DealtTable.taken()
            } finally query.stop()
          }
        val (on, off) = (s"dealt_${isShuffled}_$adaptive", s"dealt_off_${isShuffled}_$adaptive")
        val rows = Seq(7, 7, 8, 8).map(Seq(_))
        assert(written(on, across: _*).sortBy(_.head) === rows)
        assert(atEnd(on) === Some((4, Some(10), Some(500))))
        assert(written(off, atEnds: _*).sortBy(_.head) === rows)
        // Within a stage it comes along unasked.
        assert(atEnd(off) === (if (isShuffled) None else Some((4, Some(10), Some(500)))))
        assert(notesOf(off).exists(_.contains(s"$setting=true takes it there")) === isShuffled)
      }

    test(s"it costs a shuffle 8 bytes a row, and without the setting nothing, $how") {
      def bytes(name: String, settings: (String, String)*): Seq[Long] = withSettings(settings: _*) {
        val plan =
          Plans.executed(ran(name)(millis(_).repartition(3, col("at")).select(col("at") + 1))._1)
        Plans.collect(plan) { case shuffle: ShuffleExchangeExec => shuffle.metrics("dataSize").value }
      }
      assert(bytes(s"bytes_$adaptive", planned) === Seq(2 * 16))
      assert(bytes(s"bytes_off_$adaptive", (atEnds :+ planned): _*) === Seq(2 * 16))
      assert(bytes(s"bytes_on_$adaptive", (across :+ planned): _*) === Seq(2 * 24))
    }

    test(
      s"nothing is carried to an end that has a timestamp, or is marked by hand, or is not recorded, $how"
    ) {
      def columns(
          name: String,
          settings: (String, String)*
      )(steps: DataFrame => DataFrame): Seq[Seq[String]] =
        withSettings((across ++ settings :+ planned): _*) {
          shuffled(ran(name)(steps)._1)
        }
      val steps = (df: DataFrame) => millis(df).repartition(3, col("at"))
      assert(columns(s"wide_$adaptive")(steps) === Seq(Seq("at", "value")))
      assert(columns(s"known_$adaptive")(_.select(col("value"), lit(1).as("one")).repartition(3)) ===
        Seq(Seq("value", "one")))
      val at = timestamp_millis(col("at"))
      assert(columns(s"hand_$adaptive")(steps(_).withE2ELatency("end", at)) === Seq(Seq("at")))
      assert(columns(s"hand_renamed_$adaptive")(df =>
        steps(df).withE2ELatency("end", at).withColumnRenamed("at", "then")
      ) === Seq(Seq("at")))
      assert(columns(s"hand_before_$adaptive")(df =>
        millis(df).withE2ELatency("sink", at).repartition(3, col("at"))
      ) === Seq(Seq("at")))
      assert(columns(s"compiled_$adaptive", "spark.sql.codegen.maxFields" -> "1")(steps) === Seq(Seq("at")))
      assert(columns(
        s"level_$adaptive",
        "spark.sparklatency.recording.level" -> "NONE"
      )(steps) === Seq(Seq("at")))
      assert(columns(s"sources_$adaptive", "spark.sparklatency.auto" -> "source")(steps) === Seq(Seq("at")))
    }

    for (shuffle <- Seq(false, true))
      test(s"what is a timestamp on one side of a union only is none of it, shuffled being $shuffle, $how") {
        withSettings((if (shuffle) across else atEnds) :+ planned: _*) {
          val name = s"one_side_${shuffle}_$adaptive"
          def rate(age: Long) = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 2)
            .option("startTimestamp", Start - age).option("advanceMillisPerBatch", 0).load()
          val year2000 = lit("2000-01-01 00:00:00").cast("timestamp").as("timestamp")
          val both = rate(10).select("timestamp", "value").union(rate(500).select(year2000, col("value")))
          val rows = if (shuffle) both.repartition(3, col("value")) else both
          val query = rows.writeStream.format("noop").queryName(name).trigger(Trigger.AvailableNow()).start()
          query.awaitTermination()
          assert(atEnd(name) === Some((4, Some(10), Some(500))))
        }
      }

    test(s"a stamp does not go through a shuffle, for another attempt would make another one, $how") {
      withSettings((across :+ planned :+ ("spark.sparklatency.auto.ingestion" -> "true")): _*) {
        val (own, users) = (stream, stream)
        val stamped = users.toDF().withIngestionTimestamp("read")
        val direct = stamped.withWatermark("read", "1 second")
        val derived =
          stamped.withColumn("later", greatest(col("read"), col("value"))).withWatermark("later", "1 second")
        for (
          (name, rows) <- Seq(
            s"stamped_$adaptive" -> own.toDF(),
            s"stamped_by_hand_$adaptive" -> direct,
            s"stamped_and_more_$adaptive" -> derived
          )
        ) {
          val query = start(rows.select("value").repartition(3), name)
          try {
            Seq(own, users).foreach(_.addData(ago(10, 500)))
            processAll(query)
            assert(atEnd(name) === None)
            assert(shuffled(query) === Seq(Seq("value")))
          } finally query.stop()
        }
      }
    }

    test(s"without the setting the note of the end names it, $how") {
      withSettings((atEnds :+ planned): _*) {
        ran(s"told_$adaptive")(millis(_).repartition(3, col("at")))
        assert(notesOf(s"told_$adaptive").filter(_.startsWith("Node")) === Seq(
          "Node 'sink' is left out: no column there is known to hold a record timestamp: 'at'; the projection to at drops 'value': " +
            s"keep it there; $setting=true takes it there."
        ))
      }
    }
  }

  test("where an adaptive plan changes as it runs, the timestamp comes along all the same") {
    withSettings((across ++ Seq(
      noBroadcast,
      "spark.sql.adaptive.enabled" -> "true",
      "spark.sql.adaptive.autoBroadcastJoinThreshold" -> "10MB"
    )): _*) {
      val (query, written) = ran("replanned")(df =>
        keyed(df).repartition(3, col("rest")).join(static, "rest").select("double")
      )
      val joins = Plans.collect(Plans.executed(query)) {
        case join @ (_: BroadcastHashJoinExec | _: SortMergeJoinExec | _: ShuffledHashJoinExec) =>
          join.nodeName
      }
      assert(joins === Seq(if (spark.version < "4.1") "SortMergeJoin" else "BroadcastHashJoin"))
      assert(atEnd("replanned") === Some((2, Some(10), Some(500))))
      assert(written.map(_.getLong(0)).sorted === ago(10, 500).map(_.getTime % 2000 * 2).sorted)
    }
  }

  test("a plan that has the column is left as it is: Spark's own tests apply such a rule twice") {
    val before = Option(System.getProperty("spark.testing"))
    System.setProperty("spark.testing", "true")
    try withSettings(across: _*) {
        ran("twice")(millis(_).repartition(3, col("at")))
        assert(atEnd("twice") === Some((2, Some(10), Some(500))))
      }
    finally before.fold(System.clearProperty("spark.testing"))(System.setProperty("spark.testing", _))
  }

  test("no column more goes into state") {
    def columns(name: String, settings: (String, String)*): Seq[Seq[String]] = withSettings(settings: _*) {
      val found = shuffled(ran(name)(millis(_).repartition(2).dropDuplicates("at"))._1)
      assert(atEnd(name) === None)
      found
    }
    assert(columns("state", across: _*) === columns("state_off", atEnds: _*))
  }
}
