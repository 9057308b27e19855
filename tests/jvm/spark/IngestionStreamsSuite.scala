package io.sparklatency.spark

import java.nio.file.Files
import java.nio.file.Path
import java.sql.Timestamp
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import io.sparklatency.spark.Lines.LowLatencyMemoryStream
import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.ForeachWriter
import org.apache.spark.sql.Row
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.TemporaryFolder
import org.apache.spark.sql.streaming.StreamingQuery
import org.apache.spark.sql.streaming.Trigger

/** Ingestion timestamps in each way in which Spark runs a stream, by a clock that the test sets. */
class IngestionStreamsSuite extends StreamingTest with Patient {
  import IngestionStreamsSuite._

  /** Runs a query into a folder of its own, and tells what it has written. */
  private def writing(df: DataFrame, checkpoint: String, out: String): StreamingQuery =
    df.writeStream.format("parquet").outputMode("append").option("checkpointLocation", checkpoint).start(out)

  private def folder(): String = TemporaryFolder("ingestion").toString

  /** Milliseconds since the start, of what is in a window, in the order in which windows begin. */
  private def windowsIn(out: String): Seq[(Long, Long, Long)] =
    spark.read.parquet(out).collect().toSeq.map { row =>
      val window = row.getStruct(0)
      (window.getTimestamp(0).getTime - Start, window.getTimestamp(1).getTime - Start, row.getLong(1))
    }.sorted

  /** Puts a record at each of these times of the clock, each in a batch of its own. */
  private def putAt(query: StreamingQuery, times: Long*)(put: => Unit): Unit = times.foreach { ms =>
    clock.set(Start + ms)
    put
    processAll(query)
  }

  test("records of different batches differ, and those of one batch do not share its time") {
    val input = stream
    val seen = new ConcurrentLinkedQueue[Long]
    val stamped = input.toDF().coalesce(1).withIngestionTimestamp().withColumn("slow", slow(50)(lit(1L)))
    val query = stamped.writeStream.foreachBatch { (batch: DataFrame, _: Long) =>
      batch.filter("slow = 1").select("ingestion_time").collect()
        .foreach(row => seen.add(row.getTimestamp(0).getTime - Start))
    }.start()
    try {
      input.addData(ago(0, 0))
      processAll(query)
      clock.set(Start + 10000)
      input.addData(ago(0))
      processAll(query)
    } finally query.stop()
    assert(seen.asScala.toSeq === Seq(0, 50, 10000))
  }

  test("through SQL a stamp has the clock's microseconds") {
    val input = stream
    input.toDF().createOrReplaceTempView("read_by_micros")
    val stamped = spark.sql("SELECT unix_micros(ingestion_time()) FROM read_by_micros")
    val seen = new ConcurrentLinkedQueue[Long]
    val query = stamped.writeStream.foreachBatch { (batch: DataFrame, _: Long) =>
      batch.collect().foreach(row => seen.add(row.getLong(0) - Start * 1000))
    }.start()
    try
      for (micros <- Seq(1L, 999L, 1000001L)) {
        clock.setMicros(Start * 1000 + micros)
        input.addData(ago(0))
        processAll(query)
      }
    finally query.stop()
    assert(seen.asScala.toSeq === Seq(1, 999, 1000001))
  }

  test("with a watermark of no delay a window closes when a record comes that is read after its end") {
    val input = stream
    val counted = input.toDF().withIngestionTimestamp().withWatermark("ingestion_time", "0 seconds")
      .groupBy(window(col("ingestion_time"), "10 seconds")).count()
    val out = folder()
    val query = writing(counted, folder(), out)
    try {
      putAt(query, 0, 4000, 9999)(input.addData(ago(0)))
      assert(windowsIn(out) === Nil)
      putAt(query, 12000)(input.addData(ago(999999)))
      assert(windowsIn(out) === Seq((0, 10000, 3)))
      assert(query.recentProgress.flatMap(_.stateOperators).map(_.numRowsDroppedByWatermark).sum === 0)
    } finally query.stop()
  }

  test("Hazelcast C13: records minutes apart each close the window of a millisecond before, and lose none") {
    val input = stream
    val counted = input.toDF().withIngestionTimestamp().withWatermark("ingestion_time", "0 seconds")
      .groupBy(window(col("ingestion_time"), "1 millisecond")).count()
    val out = folder()
    val query = writing(counted, folder(), out)
    val minutes = (0 to 4).map(_ * 120000L)
    try
      for ((minute, i) <- minutes.zipWithIndex) {
        putAt(query, minute)(input.addData(ago(0)))
        // The newest one closes when time moves on. Without a system-time watermark only a record moves it.
        assert(windowsIn(out) === minutes.take(i).map(begin => (begin, begin + 1, 1)))
      }
    finally query.stop()
  }

  test("Hazelcast C13: a session of a gap of 15 seconds does not close before 15 seconds have passed") {
    val input = stream
    val sessions = input.toDF().withIngestionTimestamp().withWatermark("ingestion_time", "0 seconds")
      .groupBy(session_window(col("ingestion_time"), "15 seconds"), col("value")).count()
      .select("session_window", "count")
    val out = folder()
    val query = writing(sessions, folder(), out)
    try {
      putAt(query, 0, 10000, 24999)(input.addData(ago(0)))
      assert(windowsIn(out) === Nil)
      putAt(query, 24999 + 15000 + 1)(input.addData(ago(0)))
      assert(windowsIn(out) === Seq((0, 39999, 3)))
    } finally query.stop()
  }

  test("a batch that is replayed is stamped again") {
    val (checkpoint, out, input) = (folder(), folder(), stream)
    def stamped = input.toDF().withIngestionTimestamp()
    def stamps = spark.read.parquet(out).collect().map(_.getTimestamp(1).getTime - Start).toSet
    val first = writing(stamped, checkpoint, out)
    try {
      clock.set(Start + 1000)
      input.addData(ago(0))
      processAll(first)
    } finally first.stop()
    assert(stamps === Set(1000))
    // As if the driver had died before it noted that the batch was done.
    for (file <- Seq("0", ".0.crc")) Files.deleteIfExists(Path.of(checkpoint, "commits", file))
    val log = Path.of(out, "_spark_metadata")
    Files.list(log).iterator.asScala.toSeq.foreach(Files.delete)
    clock.set(Start + 5000)
    val second = writing(stamped, checkpoint, out)
    try processAll(second)
    finally second.stop()
    assert(stamps === Set(5000))
  }

  test("in real-time mode each record is stamped when it comes, and a mark above finds no age") {
    val input = LowLatencyMemoryStream[Timestamp](spark, 1)
    Seen.stamps.clear()
    val stamped = input.toDF().withIngestionTimestamp().withE2ELatency("node", "ingestion_time")
    val query = stamped.writeStream.queryName("stamped_real_time").outputMode("update").foreach(Seen)
      .trigger(Lines.realTime("10 minutes")).start()
    try {
      for ((ms, i) <- Seq(0L, 7L, 70L).zipWithIndex) {
        clock.set(Start + ms)
        input.addData(ago(0))
        eventually(assert(Seen.stamps.size === i + 1))
      }
      assert(Seen.stamps.asScala.toSeq === Seq(Start, Start + 7, Start + 70))
      eventually(assert(findNode("node", "stamped_real_time").exists(_.records == 3)))
      assert(node("node", "stamped_real_time").max === Some(0))
    } finally query.stop()
  }

  test("in continuous mode, with Spark's checks as they are") {
    Seen.stamps.clear()
    val rate = rateSource(perSecond = 50, partitions = 1)
    clock.set(Start + 33)
    val query = rate.withIngestionTimestamp().select(
      "timestamp",
      "ingestion_time"
    ).filter("ingestion_time > timestamp - INTERVAL 100 YEARS")
      .writeStream.foreach(Seen).trigger(Trigger.Continuous("1 second")).start()
    try eventually(assert(Seen.stamps.size > 20))
    finally query.stop()
    assert(Seen.stamps.asScala.toSet === Set(Start + 33))
  }
}

object IngestionStreamsSuite {

  /** Keeps the stamps, the second column, in the order in which they come. */
  private object Seen extends ForeachWriter[Row] {
    val stamps = new ConcurrentLinkedQueue[Long]
    override def open(partition: Long, epoch: Long): Boolean = true
    override def process(row: Row): Unit = stamps.add(row.getTimestamp(1).getTime): Unit
    override def close(error: Throwable): Unit = ()
  }
}
