package io.sparklatency.spark

import java.sql.Timestamp

import scala.collection.mutable

import io.sparklatency.spark.Lines.MemoryStream
import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.Encoder
import org.apache.spark.sql.Encoders
import org.apache.spark.sql.functions._

/** Something that happened to `key`. */
final case class Event(key: String, at: Timestamp)

/** What comes in at once, when the clock stands at `now`; times are in milliseconds after the start of the test. */
final case class Batch(now: Long, events: Seq[Event])

/** Tests that say how old each record of a node is, and so give count, minimum, maximum and average at once. */
trait MatrixTest extends StreamingTest with Sampled {
  protected implicit val eventEncoder: Encoder[Event] = Encoders.product[Event]

  protected def events: MemoryStream[Event] = MemoryStream[Event](spark)

  protected def watermarkedEvents(input: MemoryStream[Event]): DataFrame =
    input.toDF().withWatermark("at", "10 seconds")

  /** @param events a key and when it happened */
  protected def batch(now: Long)(events: (String, Long)*): Batch =
    Batch(now, events.map { case (key, at) => Event(key, new Timestamp(Start + at)) })

  /** All that `id` counts are records of these ages. */
  protected def assertAges(id: String, ages: Seq[Long], query: String = "__batch__"): Unit = {
    val found = node(id, query)
    val average = Option.when(ages.nonEmpty)(ages.sum.toDouble / ages.size)
    assert(
      (found.records, found.min, found.max, found.avg) ===
        ((ages.size.toLong, ages.minOption, ages.maxOption, average)),
      s"at node '$id'"
    )
  }

  /** Runs `df` in a streaming query of its own through all batches, then `check` with its name. */
  protected def inBatches(df: DataFrame, batches: Seq[Batch], mode: String = "append")(
      add: (Seq[Event], Int) => Any
  )(check: String => Any): Unit = {
    val name = freshNode()
    val query = start(df, name, mode)
    try {
      for ((batch, i) <- batches.zipWithIndex) {
        clock.set(Start + batch.now)
        add(batch.events, i)
        processAll(query)
      }
      check(name)
    } finally query.stop()
    ()
  }

  /** Ids by which a case names its nodes, each a fresh one of the application. */
  protected final class Ids {
    private val fresh = mutable.Map.empty[String, String]
    def apply(name: String): String = fresh.getOrElseUpdate(name, freshNode())
  }

  /** Rows whose timestamps are 1, 2, … `count` milliseconds old, in four partitions. */
  protected def rows(count: Int): DataFrame =
    spark.range(1, count + 1L, 1, 4).select(
      col("id"),
      (col("id") % 3).as("key"),
      timestamp_millis(lit(Start) - col("id")).as("ts")
    )

  protected def mark(df: DataFrame, id: String): DataFrame = df.withE2ELatency(id, "ts")

  protected def ages(range: Range): Seq[Long] = range.map(_.toLong)

  protected val modes = Seq[(String, Seq[(String, String)])](
    "as Spark is set by default" -> Seq.empty,
    "without adaptive planning" -> Seq("spark.sql.adaptive.enabled" -> "false"),
    "without whole-stage code" -> Seq("spark.sql.codegen.wholeStage" -> "false"),
    "interpreted" -> Seq(
      "spark.sql.codegen.wholeStage" -> "false",
      "spark.sql.codegen.factoryMode" -> "NO_CODEGEN"
    )
  )
}
