package io.sparklatency.spark

import java.sql.Timestamp

import scala.jdk.CollectionConverters._

import io.sparklatency.spark.Lines.MemoryStream
import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.Dataset
import org.apache.spark.sql.Encoder
import org.apache.spark.sql.Encoders
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.functions.lit
import org.apache.spark.sql.functions.max
import org.apache.spark.sql.functions.timestamp_millis
import org.apache.spark.sql.functions.window
import org.apache.spark.sql.latency.ListenerBus
import org.apache.spark.sql.latency.Plans
import org.apache.spark.sql.latency.TemporaryFolder
import org.apache.spark.sql.streaming.StreamingQuery
import org.apache.spark.sql.streaming.StreamingQueryException

/** Streams of timestamps, which are told how old they are. */
trait StreamingTest extends SparkTest {
  protected implicit val encoder: Encoder[Timestamp] = Encoders.TIMESTAMP

  protected def stream: MemoryStream[Timestamp] = MemoryStream[Timestamp](spark)

  protected def start(
      df: DataFrame,
      name: String,
      mode: String = "append",
      checkpoint: Option[String] = None
  ): StreamingQuery = {
    val writer = df.writeStream.format("noop").outputMode(mode)
    if (name.nonEmpty) writer.queryName(name)
    checkpoint.foreach(writer.option("checkpointLocation", _))
    writer.start()
  }

  /** In real-time mode; its first batch outlasts every test. */
  protected def startInRealTime[A](rows: Dataset[A], name: String): StreamingQuery =
    rows.writeStream.queryName(name).outputMode("update").foreach(new Drop[A])
      .trigger(Lines.realTime("10 minutes")).start()

  /** Rows that come of themselves, each with a `timestamp` and a `value`. */
  protected def rateSource(perSecond: Int, partitions: Int): DataFrame =
    spark.readStream.format("rate").option("rowsPerSecond", perSecond.toLong)
      .option("numPartitions", partitions.toLong).load()

  /**
   * Waits until all that was added is processed, until the trigger after it, which found nothing more, has told its progress,
   * and until that is in the figures. Spark's own call is enough for the first: a trigger looks for data and says that there
   * is none under one lock, so none that looked before the call can end it. But the call ends within the trigger that found
   * nothing. The second call ends within a later one. For the last it takes the events: they arrive in a queue, and what
   * comes out of it after the test has set the clock counts as of then.
   */
  protected def processAll(query: StreamingQuery): Unit = {
    (1 to 2).foreach(_ => query.processAllAvailable())
    ListenerBus.awaitEmpty(spark.sparkContext)
  }

  /**
   * The error that ends a query, when it has ended and all that tells of it has arrived. Spark's own `processAllAvailable` throws it while
   * the query still stops: one of the same name cannot start then, and nobody has been told.
   */
  protected def failure(query: StreamingQuery): StreamingQueryException = {
    val error = intercept[StreamingQueryException](query.awaitTermination(Patience.Millis))
    ListenerBus.awaitEmpty(spark.sparkContext)
    error
  }

  /** The plan of the first batch of a stream. The sink reads no rows of it. */
  protected def firstPlan(df: DataFrame, mode: String = "append"): SparkPlan = {
    val batches = Plans.batches(spark.sparkContext) {
      val query = start(df, freshNode(), mode)
      try processAll(query)
      finally query.stop()
    }
    batches(0)
  }

  /** A folder of a hundred events, each so many milliseconds older than the one before, with a column that may be left unread. */
  protected def eventsApart(ms: Long): String = {
    val folder = TemporaryFolder("events").toString
    spark.range(100).select(
      col("id"),
      timestamp_millis(lit(Start) - col("id") * ms).as("ts"),
      lit("x").as("unread")
    ).repartition(2).write.mode("overwrite").parquet(folder)
    folder
  }

  protected def ago(ms: Long*): Seq[Timestamp] = ms.map(m => new Timestamp(Start - m))

  protected def watermarked(input: MemoryStream[Timestamp]): DataFrame =
    input.toDF().withWatermark("value", "10 seconds")

  protected def marked(input: MemoryStream[Timestamp]): DataFrame =
    watermarked(input).withE2ELatency("source")

  protected def newestOfEachSecond(df: DataFrame): DataFrame =
    df.groupBy(window(col("value"), "1 second")).agg(max("value").as("last"))

  /** The newest timestamp of each second, after each batch of which Spark runs one without data. */
  protected def startWindows(input: MemoryStream[Timestamp], name: String): StreamingQuery =
    start(newestOfEachSecond(marked(input)).withE2ELatency("sink", "last"), name, "update")

  protected def nodesOf(query: String): Seq[String] =
    latencyOf(query).get("queries").elements.asScala.flatMap(_.get("nodes").elements.asScala)
      .map(_.get("node").asText).toSeq

  /** Automatic nodes where records come in and where they go out. */
  protected val atEnds: Seq[(String, String)] = Seq("spark.sparklatency.auto" -> "source,terminal")

  protected val rocksDb: (String, String) =
    "spark.sql.streaming.stateStore.providerClass" -> "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

  /** Automatic nodes of every role, at the level that records them all. */
  protected val everything: Seq[(String, String)] = Seq(
    "spark.sparklatency.auto" -> "source,terminal,stateful",
    "spark.sparklatency.recording.level" -> "TRACE"
  )
}
