package io.sparklatency.spark

import java.util.Collections

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.Column
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._

/** What is said of a mistake fits on a few lines, however much was given. */
class ShortMessagesSuite extends StreamingTest {
  private val long = "x" * 1000000
  private val most = 1500

  private def rows: DataFrame = spark.range(3).select(col("id"), timestamp_millis(col("id")).as("ts"))

  private def wide(column: Int => Column): DataFrame = spark.range(1).select((0 until 2000).map(column): _*)

  private def event(i: Int): Column = timestamp_millis(col("id")).as(s"event_$i")

  private val mistakes = Seq[(String, () => Any)](
    "a node id" -> (() => rows.withE2ELatency(long, "ts")),
    "a node id in a hint" -> (() => rows.hint("E2E_LATENCY", long, "ts")),
    "a column" -> (() => rows.withE2ELatency("n", long)),
    "a column that is not well quoted" -> (() => rows.withE2ELatency("n", s"`$long")),
    "a Column" -> (() => rows.withE2ELatency("n", col(long))),
    "a Column of another type" -> (() => rows.withE2ELatency("n", lit(long))),
    "an expression that cannot be resolved" -> (() => rows.withE2ELatency("n", concat(col(long), col(long)))),
    "a timestamp that is not of the row" -> (() => rows.withE2ELatency("n", when(lit(long) === "", now()))),
    "a level" -> (() => rows.withE2ELatency("n", "ts", long)),
    "a hint that cannot be read" -> (() => rows.hint("E2E_LATENCY", long, "ts", "INFO", long)),
    "a hint of many parameters" -> (() => rows.hint("E2E_LATENCY", Seq.fill(10000)(long.take(100)): _*)),
    "a column whose own name is long" -> (() => rows.toDF("id", long).withE2ELatency("n", "ts")),
    "two columns of one long name" -> (() => rows.toDF(long, long).withE2ELatency("n", long)),
    "a column of another DataFrame" -> (() => rows.withE2ELatency("n", rows.toDF("id", long).apply(long))),
    "a struct of 2,000 fields" -> (() =>
      rows.select(struct((0 until 2000).map(event): _*).as("s")).withE2ELatency("n", "s")
    ),
    "a batch query without a timestamp among 2,000" -> (() => wide(event).withE2ELatency("n")),
    "a list in the place of a timestamp" -> (() =>
      PythonApi.withE2ELatency(rows, "n", Collections.nCopies(1000000, 1), "INFO")
    ),
    "the name of an ingestion timestamp that is taken" -> (() =>
      rows.toDF("id", long).withIngestionTimestamp(long)
    ),
    "a function of SQL with arguments" -> (() => spark.range(1).select(expr(s"ingestion_time('$long')"))),
    "a query" -> (() => PythonApi.latencyJson(spark, long))
  )

  for ((what, mistake) <- mistakes)
    test(s"what is said of it is short: $what") {
      val text = refused(mistake())
      assert(text.length <= most && !text.contains("\n"), text.take(2 * most))
    }

  test("of 2,000 columns the ten are named that are nearest to the one that was asked for") {
    val ten = ("event_77" +: (0 to 8).map(i => s"event_77$i")).mkString("'", "', '", "' and 1,990 more")
    assert(refused(wide(event).withE2ELatency("n", "event_77x")) ===
      s"node 'n': there is no column 'event_77x' among $ten; name a timestamp; columns that hold one: $ten")
  }

  test("of 2,000 timestamps the first ten are named where none was asked for") {
    val ten = (0 to 9).map(i => s"event_$i").mkString("'", "', '", "' and 1,990 more")
    assert(refused(wide(event).withE2ELatency("n")).endsWith(s"columns that hold one: $ten"))
  }

  test("what the log says of a query is short, though its name has a million characters") {
    withSettings("spark.sparklatency.auto" -> "terminal") {
      val input = stream
      val query = start(watermarked(input).select(lit(1).as("one")).repartition(1), long)
      try {
        val log = Logged.during {
          input.addData(ago(1))
          processAll(query)
        }
        val name = s"${"x" * 24}…${"x" * 23}"
        assert(log.filter(_.contains("left out")).map(_.take(most)) === Seq(
          s"query '$name': node 'sink' is left out: no column there is known to hold a record timestamp: 'one'; " +
            "the projection to one drops 'value': keep it there; " +
            "spark.sparklatency.auto.acrossShuffles=true takes it there"
        ))
      } finally query.stop()
    }
  }

  test("what the log says of a place that is left out is short, though it has 2,000 columns") {
    withSettings("spark.sparklatency.auto" -> "terminal") {
      val input = stream
      val query =
        start(
          watermarked(input).select((0 until 2000).map(i => lit(i).as(s"c$i")): _*).repartition(1),
          "wide_and_blind"
        )
      try {
        val log = Logged.during {
          input.addData(ago(1))
          processAll(query)
        }
        val ten = (0 to 9).map(i => s"c$i").mkString("'", "', '", "' and 1,990 more")
        assert(log.filter(_.contains("left out")) === Seq(
          s"query 'wide_and_blind': node 'sink' is left out: no column there is known to hold a record timestamp: $ten; the projection to " +
            "c0, c1, c2 and 1,997 more drops 'value': keep it there; " +
            "spark.sparklatency.auto.acrossShuffles=true takes it there"
        ))
      } finally query.stop()
    }
  }
}
