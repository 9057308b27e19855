package io.sparklatency.spark

import java.nio.file.Files
import java.nio.file.Path
import java.sql.Timestamp
import java.time.Instant
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import io.sparklatency.spark.Lines.MemoryStream
import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.Row
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.TemporaryFolder
import org.apache.spark.sql.streaming.StreamingQuery
import org.apache.spark.sql.streaming.Trigger

/** Queries with a system-time watermark, on the clock of the test. Times are in seconds after the start. */
trait SystemTimeTest extends StreamingTest {

  /** Most of a small batch is the compilation of its code, and a task for each partition of state. Neither matters here. */
  private val quick = Map(
    "spark.sql.shuffle.partitions" -> "1",
    "spark.sql.codegen.wholeStage" -> "false",
    "spark.sql.codegen.factoryMode" -> "NO_CODEGEN"
  )

  private lazy val before = quick.keys.map(key => key -> spark.conf.get(key)).toMap

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    before
    quick.foreach { case (key, value) => spark.conf.set(key, value) }
  }

  override protected def afterAll(): Unit = {
    before.foreach { case (key, value) => spark.conf.set(key, value) }
    super.afterAll()
  }

  protected def at(seconds: Int*): Seq[Timestamp] = seconds.map(s => new Timestamp(Start + s * 1000L))

  protected def seconds(column: String) = expr(s"(unix_millis($column) - $Start) / 1000")

  protected def lagging(input: MemoryStream[Timestamp], lag: String = "10 seconds"): DataFrame =
    input.toDF().withSystemTimeWatermark("value", lag)

  /** How many events each window of ten seconds has, by the window's end. */
  protected def windows(df: DataFrame): DataFrame =
    df.groupBy(window(col("value"), "10 seconds")).count().select(seconds("window.end"), col("count"))

  protected def checkpoint(): Option[String] = Some(TemporaryFolder("system-time").toString)

  /** Makes it seem that the query died before it noted that its last batch was done. Gives back the batch. */
  protected def uncommitLast(checkpoint: Option[String]): Long = {
    val commits = Path.of(checkpoint.get, "commits")
    val names = Files.list(commits).toArray.map(_.toString.split('/').last)
    val last = names.filter(_.forall(_.isDigit)).map(_.toLong).max
    Files.delete(commits.resolve(last.toString))
    names.filter(_.startsWith(s".$last.")).foreach(name => Files.delete(commits.resolve(name)))
    last
  }

  /** What a query has given out, and the query. */
  protected final class Running(val query: StreamingQuery, givenOut: ConcurrentLinkedQueue[Row]) {
    def rows: Seq[Seq[Any]] = givenOut.asScala.toSeq.map(_.toSeq)

    /** Sets the clock, and waits until the query has done what there is to do then. */
    def comesTo(second: Double): Unit = {
      clock.set(Start + (second * 1000).toLong)
      processAll(query)
    }

    def reads(input: MemoryStream[Timestamp], seconds: Int*): Unit = {
      input.addData(at(seconds: _*)): Unit
      processAll(query)
    }

    def batches: Long = query.lastProgress.batchId + 1

    /** The watermark of the last batch. */
    def watermark: Double =
      (Instant.parse(query.lastProgress.eventTime.get("watermark")).toEpochMilli - Start) / 1000.0

    /** How many rows the operators keep. */
    def kept: Long = query.lastProgress.stateOperators.map(_.numRowsTotal).sum
  }

  /** @param during what happens while a batch runs, by its number */
  protected def running[A](
      df: DataFrame,
      mode: String = "append",
      checkpoint: Option[String] = None,
      trigger: Trigger = Trigger.ProcessingTime(0),
      during: Long => Unit = _ => ()
  )(body: Running => A): A = {
    val rows = new ConcurrentLinkedQueue[Row]
    val writer = df.writeStream.queryName(s"system_time_${freshNode().drop(5)}").outputMode(mode)
      .trigger(trigger).foreachBatch { (batch: DataFrame, id: Long) =>
        during(id)
        batch.collect().foreach(rows.add)
      }
    checkpoint.foreach(writer.option("checkpointLocation", _))
    val query = writer.start()
    try body(new Running(query, rows))
    finally query.stop()
  }
}
