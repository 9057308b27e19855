package io.sparklatency.spark

import java.nio.file.Files
import java.nio.file.Path

import scala.jdk.CollectionConverters._
import scala.util.Try

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.Plans
import org.apache.spark.sql.latency.TemporaryFolder

/** Nodes that nobody wrote, over sources that do not say when a record happened. */
class AutomaticIngestionSuite extends StreamingTest with Patient {
  private lazy val texts: String = {
    val folder = TemporaryFolder("texts").toString
    spark.range(0, 20, 1, 1).select((col("id") % 10).cast("string")).write.mode("overwrite").text(folder)
    folder
  }

  private def files: DataFrame = spark.readStream.text(texts)

  private def source = s"source-0-file[${Path.of(texts).getFileName}]"

  private val owned = atEnds :+ ("spark.sparklatency.auto.ingestion" -> "true")

  private def ran(df: DataFrame, mode: String = "append"): String = {
    val name = s"auto_ingestion_${freshNode()}"
    val query = start(df, name, mode)
    try processAll(query)
    finally query.stop()
    name
  }

  private def figures(query: String): Map[String, (Long, Option[Long], Option[Long])] =
    nodesOf(query).map(id => id -> node(id, query).figures).toMap

  private def work = slow(50)(lit(1L))

  private val worked = Map("sink" -> ((20L, Some(50L), Some(50L))))

  test("a query over files has figures by its ingestion timestamp, at the source and at its end") {
    withSettings(atEnds: _*) {
      val query =
        ran(files.withIngestionTimestamp().filter(length(col("value")) > 0).withColumn("slow", work))
      assert(figures(query) === worked + (source -> ((20, Some(0), Some(0)))))
    }
  }

  test(
    "an ingestion timestamp comes along through a watermark, a window and max; where a query drops it, it is not made"
  ) {
    withSettings(atEnds: _*) {
      val dropped = files.withIngestionTimestamp().select(
        col("value"),
        col("ingestion_time"),
        work.as("x")
      ).select("value")
      assert(figures(ran(dropped.filter(length(col("value")) > 0))).keySet === Set())
      val read = files.withIngestionTimestamp("at").withWatermark("at", "0 seconds")
      val newest = read.groupBy(window(col("at"), "1 day")).agg(max("at").as("last"))
      assert(figures(ran(newest, "update")) ===
        Map(source -> ((20, Some(0), Some(0))), "sink" -> ((1, Some(0), Some(0)))))
    }
  }

  test("a source's own timestamp and a watermarked event time come first") {
    withSettings(atEnds: _*) {
      val rate = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", "10")
        .option("startTimestamp", (Start - 5000).toString).load()
      val query = start(rate.withIngestionTimestamp(), "auto_own_first", "append")
      try {
        eventually(assert(query.recentProgress.nonEmpty))
        query.stop()
        assert(figures("auto_own_first").values.map(_._3).toSet.size === 1)
        assert(figures("auto_own_first").values.forall(_._3.exists(_ >= 4000)))
      } finally query.stop()
      val events = files.withIngestionTimestamp()
        .select(
          timestamp_millis(lit(Start - 7)).as("happened"),
          col("ingestion_time")
        ).withWatermark("happened", "1 hour")
      assert(figures(ran(events)) === Map("sink" -> ((20, Some(7), Some(7)))))
    }
  }

  test("a mark by hand right above a stamp stands for the source's node") {
    withSettings(atEnds: _*) {
      val marked =
        files.withIngestionTimestamp().withE2ELatency("by hand", "ingestion_time").withColumn("slow", work)
      assert(figures(ran(marked)) === worked + ("by hand" -> ((20, Some(0), Some(0)))))
    }
  }

  test("without an ingestion timestamp a query over files has no figures, and the log names both remedies") {
    withSettings(atEnds: _*) {
      val log = Logged.during(assert(nodesOf(ran(files)) === Nil))
      assert(log.filter(_.contains(source)).map(_.replaceAll("query '[^']*': ", "")) === Seq(
        s"node '$source' is left out: no column there is known to hold a record timestamp: 'value'; with_ingestion_timestamp and " +
          "spark.sparklatency.auto.ingestion give records one as they are read"
      ))
    }
  }

  test(
    "with the setting, records are stamped where nobody asked, and at the end the ages of their way are there"
  ) {
    withSettings(owned: _*) {
      assert(figures(ran(files.filter(length(col("value")) > 0).withColumn(
        "slow",
        work
      ).drop("slow"))).keySet === Set(source, "sink"))
      assert(figures(ran(files.select(col("value"), work.as("x")))) === worked + (source -> ((
        20,
        Some(0),
        Some(0)
      ))))
      // Nothing comes along through a shuffle.
      assert(figures(ran(files.repartition(3).withColumn(
        "x",
        work
      ))) === Map(source -> ((20, Some(0), Some(0)))))
      assert(figures(ran(
        files.groupBy("value").count(),
        "complete"
      )) === Map(source -> ((20, Some(0), Some(0)))))
      assert(figures(ran(files.union(files))).keySet.count(_.startsWith("source-")) === 2)
    }
  }

  test("with the setting, records of a source that somebody wrote are stamped") {
    withSettings(owned: _*) {
      val words = spark.readStream.format(classOf[WordSource].getName).load()
      assert(figures(ran(words.select(col("value"), work.as("x")))) ===
        Map("source-0-word" -> ((2L, Some(0L), Some(0L))), "sink" -> ((2L, Some(50L), Some(50L)))))
    }
  }

  test("with the setting, a line of a socket is stamped") {
    val server = listening()
    try
      withSettings(owned: _*) {
        val lines = spark.readStream.format("socket").option("host", "127.0.0.1")
          .option("port", server.getLocalPort.toString).load()
        val query = start(lines.select(col("value"), work.as("x")), "auto_socket")
        try {
          val writer = server.accept()
          writer.getOutputStream.write("one\n".getBytes)
          writer.getOutputStream.flush()
          def records = Try(node("sink", "auto_socket").records).getOrElse(0L)
          eventually {
            processAll(query)
            assert(records >= 1)
          }
          writer.close()
          assert(nodesOf("auto_socket") === Seq("source-0-text-socket", "sink"))
          assert(node("source-0-text-socket", "auto_socket").max === Some(0))
          assert(node("sink", "auto_socket").min === Some(50))
        } finally query.stop()
      }
    finally server.close()
  }

  test("the setting leaves queries alone that have a timestamp") {
    val input = stream
    def plan(name: String) = {
      val query = start(watermarked(input), name)
      try {
        input.addData(ago(3))
        processAll(query)
        Plans.withoutMarks(Plans.executed(query))
      } finally query.stop()
    }
    withSettings(atEnds: _*)(assert(plan("auto_with_time").contains("value")))
    withSettings(owned: _*) {
      assert(!plan("auto_with_time_too").contains("ingestion_time"))
      assert(node("sink", "auto_with_time_too").max === Some(3))
    }
  }

  test("what is written stays the same, byte for byte, with the setting") {
    val shapes = Seq[(String, DataFrame => DataFrame)](
      "text" -> identity,
      "parquet" -> (_.select(col("value"), length(col("value")).as("n")).filter("value <> '3'")),
      "json" -> (_.dropDuplicates("value")),
      "parquet" -> (_.repartition(1)),
      "json" -> (df => df.as("l").join(broadcast(spark.range(5).toDF("k")), col("value") === col("k"))),
      "json" -> (_.select(explode(array(col("value"), lit("x"))).as("value"))),
      "text" -> (df => df.union(df))
    )
    for ((format, shape) <- shapes) {
      def written(): Seq[Seq[Byte]] = {
        val out = TemporaryFolder("written")
        val query = shape(files).writeStream.format(format).outputMode("append")
          .option("checkpointLocation", TemporaryFolder("checkpoint").toString).start(out.toString)
        try processAll(query)
        finally query.stop()
        Files.list(out).iterator.asScala.filter(_.getFileName.toString.startsWith("part-"))
          .map(Files.readAllBytes(_).toSeq).toSeq.sortBy(_.hashCode)
      }
      val plain = written()
      withSettings(owned: _*) {
        assert(written() === plain, s"$format ${shape(files).columns.mkString(",")}")
      }
    }
  }
}
