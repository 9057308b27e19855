package io.sparklatency.spark

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.Row
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.TemporaryFolder
import org.apache.spark.sql.streaming.DataStreamWriter
import org.apache.spark.sql.streaming.StreamingQuery
import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.storage.StorageLevel

/** Marks in streaming plans without state, under every trigger and into every sink, in every way in which Spark runs them. */
class StreamMatrixSuite extends MatrixTest {

  /** Shape, a streaming plan over one stream of four events that are 1 to 4 ms old, and the ages that each node counts. */
  private val streams = Seq[(String, DataFrame => DataFrame, Map[String, Seq[Long]])](
    (
      "a union of two marked branches",
      df => df.filter("key = 'a'").withE2ELatency("a").union(df.filter("key = 'b'").withE2ELatency("b")),
      Map("a" -> Seq(1, 3), "b" -> Seq(2, 4))
    ),
    (
      "a union of a marked stream with itself",
      df => { val one = df.withE2ELatency("one"); one.union(one).withE2ELatency("both", "at") },
      Map("one" -> Seq(1, 2, 3, 4), "both" -> Seq(1, 1, 2, 2, 3, 3, 4, 4))
    ),
    (
      "a join of a marked stream with itself",
      df => {
        val one = df.withE2ELatency("one")
        one.join(
          one.toDF("k", "t").filter("k = 'a'"),
          expr("key = k AND at = t")
        ).withE2ELatency("joined", "t")
      },
      Map("one" -> Seq(1, 2, 3, 4), "joined" -> Seq(1, 3))
    ),
    (
      "explode below and above",
      _.withE2ELatency("below").withColumn("n", explode(array(lit(1), lit(2)))).withE2ELatency("above"),
      Map("below" -> Seq(1, 2, 3, 4), "above" -> Seq(1, 1, 2, 2, 3, 3, 4, 4))
    ),
    (
      "a shuffle by range",
      _.withE2ELatency("below").repartitionByRange(3, col("at")).withE2ELatency("above"),
      Map("below" -> Seq(1, 2, 3, 4), "above" -> Seq(1, 2, 3, 4))
    ),
    (
      "a broadcast table",
      df => {
        val table = spark.createDataFrame(Seq("a" -> 1, "z" -> 2)).toDF("key", "n")
        df.withE2ELatency("below").join(broadcast(table), "key").withE2ELatency("above")
      },
      Map("below" -> Seq(1, 2, 3, 4), "above" -> Seq(1, 3))
    ),
    (
      "a scalar subquery of a marked table, which each batch reads",
      df => {
        val table = spark.range(
          1,
          3
        ).select(timestamp_millis(lit(Start) - col("id")).as("ts")).withE2ELatency("table", "ts")
        table.createOrReplaceTempView("stream_matrix_table")
        df.withE2ELatency(
          "below"
        ).filter("at <= (SELECT max(ts) FROM stream_matrix_table)").withE2ELatency("above")
      },
      Map("table" -> Seq(1, 2, 2, 3), "below" -> Seq(1, 2, 3, 4), "above" -> Seq(1, 2, 3, 4))
    ),
    (
      "typed map and filter",
      df =>
        df.withE2ELatency("below").as[Event].filter(_.key == "b").map(e =>
          Event(e.key * 2, e.at)
        ).toDF().withE2ELatency("above", "at"),
      Map("below" -> Seq(1, 2, 3, 4), "above" -> Seq(2, 4))
    )
  )

  for (((shape, plan, expected), (mode, settings)) <- sample.of(streams, modes))
    test(s"in a stream, $shape, $mode") {
      withSettings(settings: _*) {
        val input = events
        val batches = Seq(batch(0)("a" -> -1, "b" -> -2), batch(1)("a" -> -2, "b" -> -3))
        inBatches(plan(watermarkedEvents(input)), batches)((events, _) => input.addData(events)) { query =>
          for ((id, ages) <- expected) assertAges(id, ages, query)
        }
      }
    }

  test(
    "a mark behind a shuffle that is read twice counts once, where Spark joins small partitions of one side alone"
  ) {
    withSettings(
      "spark.sql.shuffle.partitions" -> "8",
      "spark.sql.adaptive.advisoryPartitionSizeInBytes" -> "30000",
      "spark.sql.adaptive.coalescePartitions.minPartitionSize" -> "1",
      "spark.sql.adaptive.coalescePartitions.parallelismFirst" -> "false"
    ) {
      val input = events
      val wide = watermarkedEvents(input).withColumn("wide", sha2(col("key"), 256)).repartition(col("key"))
      val one = wide.withE2ELatency("one")
      val all = batch(0)((0 until 2000).map(i => i.toString -> -i.toLong): _*)
      inBatches(one.select("wide").union(one.select("key")), Seq(all))((events, _) => input.addData(events)) {
        assertAges("one", 0L until 2000L, _)
      }
    }
  }

  private val triggers = Seq[(String, Trigger)](
    "available now" -> Trigger.AvailableNow(),
    "each millisecond" -> Trigger.ProcessingTime(1)
  )

  for ((name, trigger) <- triggers)
    test(s"a stream that is triggered: $name") {
      val input = events
      input.addData(batch(0)("a" -> -1, "b" -> -2).events)
      val marked = watermarkedEvents(input).withE2ELatency("source")
      val query = marked.writeStream.queryName(freshNode()).format("noop").trigger(trigger).start()
      try {
        processAll(query)
        if (query.isActive) {
          input.addData(batch(0)("c" -> -3).events)
          processAll(query)
        }
        assertAges("source", if (name == "available now") Seq(1, 2) else Seq(1, 2, 3), query.name)
      } finally query.stop()
    }

  test("a stream of four files, of which each batch reads one, available now") {
    val files = folder()
    spark.range(1, 21, 1, 4).select(
      col("id"),
      timestamp_millis(lit(Start) - col("id")).as("ts")
    ).write.mode("overwrite").parquet(files)
    val read =
      spark.readStream.schema("id LONG, ts TIMESTAMP").option("maxFilesPerTrigger", "1").parquet(files)
    val query = read.withE2ELatency(
      "source",
      "ts"
    ).writeStream.queryName(freshNode()).format("noop").trigger(Trigger.AvailableNow()).start()
    query.awaitTermination()
    assertAges("source", ages(1 to 20), query.name)
    assert(queryOf(query.name).at("/batches").asInt === 4)
  }

  private def folder(): String = TemporaryFolder("stream").toString

  /** How a query is written, with a name of its own. */
  private val sinks = Seq[(String, DataStreamWriter[Row] => StreamingQuery)](
    "noop" -> (_.format("noop").start()),
    "memory" -> (_.format("memory").start()),
    "parquet" -> (_.format("parquet").option("checkpointLocation", folder()).start(folder())),
    "json, partitioned" -> (_.format("json").partitionBy("key").option(
      "checkpointLocation",
      folder()
    ).start(folder())),
    "toTable" -> (_.option("checkpointLocation", folder()).option("path", folder()).toTable("stream_matrix")),
    "foreach" -> (_.foreach(Drop).start()),
    "foreachBatch that persists its batch" -> (_.foreachBatch { (batch: DataFrame, _: Long) =>
      val persisted = batch.persist(StorageLevel.DISK_ONLY)
      persisted.count()
      persisted.filter("key = 'a'").collect()
      persisted.unpersist()
      ()
    }.start()),
    "foreachBatch that writes its batch twice" -> (_.foreachBatch { (batch: DataFrame, _: Long) =>
      drop(batch)
      batch.write.mode("append").parquet(folder())
    }.start()),
    "foreachBatch that reads its batch as an RDD" -> (_.foreachBatch { (batch: DataFrame, _: Long) =>
      batch.rdd.count()
      ()
    }.start())
  )

  for ((name, write) <- sinks)
    test(s"into a sink: $name") {
      val input = events
      val query =
        write(watermarkedEvents(input).withE2ELatency("source").writeStream.queryName(freshNode().replace(
          '-',
          '_'
        )))
      try {
        input.addData(batch(0)("a" -> -1, "b" -> -2).events)
        processAll(query)
        input.addData(batch(0)("c" -> -3).events)
        processAll(query)
        assertAges("source", Seq(1, 2, 3), query.name)
      } finally {
        query.stop()
        spark.sql("DROP TABLE IF EXISTS stream_matrix")
      }
    }
}
