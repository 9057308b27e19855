package io.sparklatency.spark

import scala.jdk.CollectionConverters._

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.Encoders
import org.apache.spark.sql.functions._
import org.apache.spark.sql.streaming.OutputMode
import org.apache.spark.sql.streaming.StatefulProcessor
import org.apache.spark.sql.streaming.TTLConfig
import org.apache.spark.sql.streaming.TimeMode
import org.apache.spark.sql.streaming.TimerValues
import org.apache.spark.sql.streaming.ValueState

/** Which programs go without timestamps: the cases of FLIP-330, in Spark's terms. */
class FlinkStampsSuite extends StampCosts {
  import FlinkStampsSuite._
  import StampCosts._

  /** Those that need none. Each with a shuffle, where a timestamp would be seen. */
  private val without = Seq[(String, (DataFrame, DataFrame) => DataFrame)](
    ("a map", (df, _) => df.repartition(2, col("value")).as[Event].map(_.value.toString).toDF()),
    (
      "a session window of event time",
      (df, _) => df.groupBy(session_window(col("value"), "1 second"), hour(col("value"))).count()
    ),
    (
      "an interval join",
      (df, other) => {
        def keyed(df: DataFrame) = df.withColumn("k", date_trunc("hour", col("value")))
        keyed(df).join(
          keyed(other).withColumnRenamed("value", "r").withColumnRenamed("k", "rk"),
          expr("k = rk AND value BETWEEN r - INTERVAL 1 SECOND AND r + INTERVAL 1 SECOND")
        ).select("r")
      }
    ),
    (
      "a function with state of its own",
      (df, _) =>
        df.as[Event].groupByKey(_.value.toString)
          .transformWithState(new Counting, TimeMode.None(), OutputMode.Append).toDF()
    ),
    ("a watermark that nothing uses", (df, _) => df.repartition(3, col("value")).select("value"))
  )

  for ((what, shape) <- without)
    test(s"Flink D6: $what needs none, and its rows and state are those without") {
      withSettings(rocksDb) {
        // (What RocksDB takes of memory differs from run to run.)
        def costs(stamped: Boolean) = cost(stamped, "append", shape).copy(stateBytes = 0)
        val plain = costs(stamped = false)
        assert(plain.bytes > 0 && plain.records > 0)
        assert(costs(stamped = true) === plain)
      }
    }

  private def shuffled(of: DataFrame => DataFrame): Cost = {
    val input = stream
    input.addData(ago(1L to 40L: _*))
    run(of(input.toDF()), "append")
  }

  private def notes(of: DataFrame => DataFrame): Seq[String] = {
    val input = stream
    val name = s"d6_${freshNode()}"
    val query = start(of(input.toDF()), name)
    try {
      input.addData(ago(1))
      processAll(query)
      latencyOf(name).get("queries").elements.asScala.flatMap(_.get("notes").elements.asScala)
        .map(_.get("code").asText).filter(_ == "left-out").toSeq
    } finally query.stop()
  }

  test("Flink D6: a node that asks for it keeps it in every row, and does not if its level leaves it out") {
    def of(level: String)(df: DataFrame) =
      df.withIngestionTimestamp("at").repartition(
        3,
        col("value")
      ).withE2ELatency("n", "at", level).select("value")
    val plain = shuffled(_.repartition(3, col("value")))
    val read = shuffled(of("INFO"))
    assert((read.bytes, read.rows) === ((plain.bytes + 8 * plain.records, plain.rows.map(_ + ", TIMESTAMP"))))
    assert(notes(of("INFO")) === Nil)
    assert(shuffled(of("TRACE")) === plain)
  }

  test(
    "Flink D6: a watermark by it has it made, also one that nothing uses; a shuffle behind that does not carry it"
  ) {
    def of(df: DataFrame) = df.withIngestionTimestamp("at").withWatermark("at", "1 second")
    assert(notes(of(_).repartition(3, col("value")).select("value")) === Nil)
    assert(notes(_.withIngestionTimestamp("at").repartition(
      3,
      col("value")
    ).select("value")) === Seq("left-out"))
    val plain = shuffled(_.repartition(3, col("value")))
    assert(shuffled(of(_).repartition(3, col("value")).select("value")) === plain)
  }
}

object FlinkStampsSuite {

  /** Says once of each key that it came; the state is how often it did. */
  private final class Counting extends StatefulProcessor[String, StampCosts.Event, String] {
    @transient private var seen: ValueState[Long] = _

    override def init(mode: OutputMode, time: TimeMode): Unit =
      seen = getHandle.getValueState[Long]("seen", Encoders.scalaLong, TTLConfig.NONE)

    override def handleInputRows(
        key: String,
        rows: Iterator[StampCosts.Event],
        timers: TimerValues
    ): Iterator[String] = {
      seen.update((if (seen.exists()) seen.get() else 0L) + rows.size)
      Iterator(key)
    }
  }
}
