package io.sparklatency.spark

import java.sql.Timestamp

import scala.jdk.CollectionConverters._

import io.sparklatency.spark.Lines.MemoryStream
import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.FileSourceScanExec
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.Plans
import org.apache.spark.sql.latency.TemporaryFolder
import org.apache.spark.sql.streaming.GroupStateTimeout
import org.apache.spark.sql.streaming.OutputMode
import org.apache.spark.sql.streaming.StreamingQueryException

/** What an ingestion stamp that nothing reads leaves in shuffles and state: nothing, unless the user wants it kept. */
class UnreadStampsSuite extends StampCosts {
  import StampCosts._

  /** Of a stream, and of a second one like it. */
  private val shapes = Seq[(String, String, (DataFrame, DataFrame) => DataFrame)](
    ("a shuffle", "append", (df, _) => df.repartition(3, col("value")).select("value")),
    ("a window's state", "update", (df, _) => df.groupBy(window(col("value"), "1 second")).count()),
    ("a union", "append", (df, other) => df.union(other).repartition(2, col("value")).select("value")),
    (
      "a join of two streams",
      "append",
      (df, other) => df.join(other.withColumnRenamed("value", "r"), expr("value = r")).select("r")
    ),
    ("dropDuplicates", "append", (df, _) => df.dropDuplicates("value").select("value")),
    (
      "a function with state",
      "append",
      (df, _) =>
        df.as[Event].groupByKey(_.value.toString)
          .flatMapGroupsWithState[Long, String](
            OutputMode.Append,
            GroupStateTimeout.NoTimeout
          )(counting).toDF()
    )
  )

  for ((what, mode, shape) <- shapes) test(s"$what is as large with a stamp that nothing reads as without") {
    val plain = cost(stamped = false, mode, shape)
    assert(plain.bytes > 0 && plain.records > 0)
    assert(cost(stamped = true, mode, shape) === plain)
  }

  for ((what, mode, shape) <- shapes if what != "a window's state")
    test(s"$what has the stamp where it is kept for a reader to come") {
      val plain = cost(stamped = false, mode, shape)
      withSettings(force) {
        val kept = cost(stamped = true, mode, shape)
        assert(kept.bytes === plain.bytes + 8 * plain.records)
        assert(kept.rows === plain.rows.map(_ + ", TIMESTAMP"))
        assert((kept.records, kept.stateRows) === ((plain.records, plain.stateRows)))
        if (what.startsWith("a join")) assert(kept.stateBytes > plain.stateBytes)
      }
    }

  test("a function of a batch is handed the stamp only where its type has one") {
    def shuffled(df: DataFrame): Seq[Seq[String]] = {
      val grouped = df.as[Event].groupByKey(_.value.toString)
      val functions = Seq(
        grouped.mapGroups((key: String, _: Iterator[Event]) => key),
        grouped.cogroup(grouped)((key: String, _: Iterator[Event], _: Iterator[Event]) => Iterator(key))
      )
      assert(functions.map(_.collect().length) === Seq(10, 10))
      functions.flatMap(it =>
        Plans.collect(it.queryExecution.executedPlan) { case exchange: ShuffleExchangeExec =>
          exchange.schema.fieldNames.toSeq
        }
      )
    }
    val plain = spark.range(10).select(timestamp_millis(col("id")).as("value"))
    assert(shuffled(plain.withIngestionTimestamp()) === shuffled(plain))
    val read =
      plain.withIngestionTimestamp("at").withColumn("value", col("at")).as[Event].groupByKey(_.value.toString)
        .mapGroups((_: String, of: Iterator[Event]) => of.size.toString)
    assert(read.collect().toSeq === Seq("10"))
  }

  test("what is written is the same, and filters reach the source as before, where stamps are kept") {
    val folder = TemporaryFolder("events").toString
    spark.range(100).toDF("id").write.mode("overwrite").parquet(folder)
    def shape(df: DataFrame): DataFrame =
      df.select("id").filter("id > 90").groupBy("id").count().orderBy("id")
    def scan(df: DataFrame): String =
      Plans.collect(df.queryExecution.executedPlan) { case scan: FileSourceScanExec =>
        scan.simpleString(1000)
      }
        .mkString.replaceAll("#\\d+L?", "#")
    val plain = shape(spark.read.parquet(folder))
    withSettings(force) {
      val kept = shape(spark.read.parquet(folder).withIngestionTimestamp())
      assert(kept.collect() === plain.collect())
      assert(scan(kept) === scan(plain))
      assert(scan(kept).contains("GreaterThan(id,90)"), scan(kept))
    }
  }

  /** Runs a join of two streams, and on from its checkpoint with a node behind the join that goes by the stamp. */
  private def nodeAddedLater(query: String): Unit = {
    val checkpoint = TemporaryFolder("checkpoint").toString
    val input = stream
    def joined: DataFrame =
      watermarked(input).withIngestionTimestamp("at")
        .join(watermarked(input).select(col("value").as("r")), expr("value = r"))
    def ran(df: DataFrame, name: String): Unit = {
      val query = start(df, name, "append", Some(checkpoint))
      try processAll(query)
      finally query.stop()
    }
    input.addData(ago(1, 2, 3))
    ran(joined.select("r"), s"${query}_before")
    input.addData(ago(4, 5))
    ran(joined.withE2ELatency("added", "at").select("r"), query)
  }

  test("a node that is added behind a join goes on from the checkpoint where its timestamp was kept") {
    withSettings(force)(nodeAddedLater("kept"))
    assert(node("added", "kept").records === 2)
  }

  test("where it was not kept, Spark refuses the checkpoint") {
    val refused = intercept[StreamingQueryException](nodeAddedLater("not_kept"))
    assert(refused.getMessage.toLowerCase.contains("schema"), refused.getMessage)
  }

  test("with the setting a node that its level leaves out leaves its timestamp") {
    val rows = spark.range(10).select(col("id"), timestamp_millis(col("id")).as("ts"))
    def shuffled: Seq[String] = {
      val marked = rows.repartition(2, col("id")).withE2ELatency(freshNode(), "ts", "TRACE").select("id")
      marked.collect()
      Plans.collect(marked.queryExecution.executedPlan) { case exchange: ShuffleExchangeExec =>
        exchange
      }.head.schema.fieldNames
        .toSeq
    }
    assert(shuffled === Seq("id"))
    withSettings(force)(assert(shuffled === Seq("id", "ts")))
  }

  test("a stamp that is left out is told once in the log, and in the notes; one that is read is not") {
    def ran(df: DataFrame, name: String)(input: MemoryStream[Timestamp]): Unit = {
      val query = start(df, name)
      try for (ms <- 1L to 2L) {
          input.addData(ago(ms))
          processAll(query)
        }
      finally query.stop()
    }
    val (read, unread) = (stream, stream)
    val said = "the ingestion timestamp 'read at' is left out of the plan: no step, node or sink reads it; " +
      "spark.sparklatency.forceTimestampSupport=true keeps it"
    val log = Logged.during {
      ran(
        watermarked(unread).withIngestionTimestamp("read at").withE2ELatency("a", "value").select("value"),
        "stamp_unread"
      )(unread)
      ran(
        watermarked(read).withIngestionTimestamp("read at").withE2ELatency("a", "`read at`").select("value"),
        "stamp_read"
      )(read)
    }
    assert(log.filter(_.contains("left out")) === Seq(s"query 'stamp_unread': $said"))
    def notes(query: String): Seq[String] =
      latencyOf(query).get("queries").elements.asScala.flatMap(_.get("notes").elements.asScala)
        .filter(_.get("code").asText == "left-out").map(_.get("text").asText).toSeq
    assert(notes("stamp_unread") === Seq(s"${said.capitalize}."))
    assert(notes("stamp_read") === Nil)
  }
}
