package io.sparklatency.spark

import java.sql.Timestamp

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.Column
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.Row
import org.apache.spark.sql.execution.WholeStageCodegenExec
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.Plans
import org.apache.spark.sql.latency.TemporaryFolder
import org.apache.spark.sql.streaming.Trigger

/** However Spark aggregates, the node of an aggregation tells the same: by a hash table, by objects in one, or over sorted rows. */
class AutomaticAggregatesSuite extends StreamingTest with Sampled {
  private val text = col("value").cast("string")

  /** What is computed of each group, the operator that Spark takes for it, and settings that make it take that one. */
  private val aggregates: Seq[(String, String, Column, Seq[(String, String)])] = Seq(
    ("a count", "HashAggregate", count("*"), Nil),
    ("the greatest text", "SortAggregate", max(text), Nil),
    ("a list", "ObjectHashAggregate", collect_list(text), Nil),
    (
      "a list that outgrows its table",
      "ObjectHashAggregate",
      collect_list(text),
      Seq("spark.sql.objectHashAggregate.sortBased.fallbackThreshold" -> "1")
    ),
    (
      "a list without tables of objects",
      "SortAggregate",
      collect_list(text),
      Seq("spark.sql.execution.useObjectHashAggregateExec" -> "false")
    )
  )

  private val modes = Seq("CODEGEN_ONLY", "NO_CODEGEN")

  /** The figures of a node, those of its intake, and how late what it drops is. */
  private def told(id: String, query: String) = {
    val shown = node(id, query)
    val staleness = shown.measure("staleness").get
    val lateness = shown.measure("lateness").get
    (shown.figures, (staleness.min, staleness.max), (lateness.records, lateness.max))
  }

  /** Two groups are given out half a minute later, and one record is late. */
  private def assertTells(grouped: DataFrame => DataFrame, mode: String, id: String, operator: String)(
      expected: (Any, Any, Any)
  ): Unit = {
    val input = stream
    val name = s"aggregates_${freshNode()}"
    val query = start(grouped(watermarked(input)), name, mode)
    try {
      input.addData(ago(100, 200, 5000))
      processAll(query)
      clock.advance(30000)
      input.addData(Seq(new Timestamp(Start + 30000)))
      processAll(query)
      input.addData(ago(700))
      processAll(query)
      val plan = Plans.executed(query)
      assert(Plans.withoutMarks(plan).linesIterator.exists(_.trim.startsWith(s"$operator(")), plan)
      assert(nodesOf(name) === Seq("source-0-memory", id, "sink"))
      assert(told(id, name) === expected)
      assert(figures("sink", name) === figures(id, name))
      assert(node(id, name).text("timestamp").nonEmpty)
    } finally query.stop()
  }

  private def figures(id: String, query: String) = node(id, query).figures

  /** Spark folds this into the aggregation, out of which no timestamp comes then. */
  private def asText(grouped: DataFrame => DataFrame)(df: DataFrame): DataFrame =
    grouped(df).select(to_json(struct("*")).as("value"))

  // Of each aggregate a sample has one shape in one mode.
  for ((((what, operator, aggregate, settings), codegen), i) <- sample.of(aggregates, modes).zipWithIndex) {
    val all = settings ++ everything :+ ("spark.sql.codegen.factoryMode" -> codegen)
    def ofWindows(df: DataFrame) = df.groupBy(window(col("value"), "1 second")).agg(aggregate.as("x"))
    def ofSessions(df: DataFrame) =
      df.groupBy(session_window(col("value"), "1 second"), text.isNotNull).agg(aggregate.as("x"))
    // A count asks for no column of the records, so what comes in is a window.
    val (inWindows, inSessions) =
      if (what == "a count") ((Some(-1000), Some(30000)), (Some(-1000), Some(29700)))
      else ((Some(0), Some(30700)), (Some(0), Some(30700)))
    val closed = ((2, Some(30000), Some(34000)), inWindows, (1, Some(20000)))
    val updated = ((3, Some(-1000), Some(4000)), inWindows, (1, Some(20000)))
    val ended = ((2, Some(29100), Some(34000)), inSessions, (1, Some(19700)))

    val shapes = Seq[(String, DataFrame => DataFrame, String, String, (Any, Any, Any))](
      (
        s"in append mode $what of each window is as old as its window",
        ofWindows,
        "append",
        "aggregate-1",
        closed
      ),
      (
        s"in update mode $what of each window is as old as its window",
        ofWindows,
        "update",
        "aggregate-1",
        updated
      ),
      (
        s"$what of each window is as old as its window though only a text is made of that",
        asText(ofWindows),
        "append",
        "aggregate-1",
        closed
      ),
      (
        s"$what of each session is as old as its session though only a text is made of that",
        asText(ofSessions),
        "append",
        "session-window-1",
        ended
      ),
      (
        s"$what of each session is as old as its session",
        ofSessions,
        "append",
        "session-window-1",
        ended
      )
    )
    for ((shape, grouped, mode, id, expected) <- sample.modesOf(i, shapes))
      test(s"$shape, in mode $codegen") {
        withSettings(all: _*)(assertTells(grouped, mode, id, operator)(expected))
      }
  }

  test(
    "an aggregation that gives out its window for our node alone goes on with the state it had, and writes what it wrote"
  ) {
    val input = stream
    val folder = TemporaryFolder("texts").toString
    var written = Seq.empty[Row]
    def run(seconds: Long*): Unit = {
      val texts = watermarked(input).groupBy(window(col("value"), "1 second")).count()
        .select(concat(unix_seconds(col("window.end")) - Start / 1000, lit(": "), col("count")))
      val query = texts.writeStream.queryName("texts").outputMode("update")
        .option("checkpointLocation", folder)
        .foreachBatch((batch: DataFrame, _: Long) => written ++= batch.collect()).start()
      try {
        input.addData(ago(seconds.map(_ * 1000): _*))
        processAll(query)
      } finally query.stop()
    }
    run(1, 2)
    withSettings(everything: _*)(run(2, 3))
    assert(nodesOf("texts") === Seq("source-0-memory", "aggregate-1", "sink"))
    assert(Seq("aggregate-1", "sink").map(figures(_, "texts")) === Seq.fill(2)((2, Some(1000), Some(2000))))
    run(3)
    assert(written.map(_.toSeq).map(_.mkString).sorted ===
      Seq("-1: 1", "-1: 2", "-2: 1", "-2: 2", "0: 1"))
  }

  /** Under ANSI a division by zero fails a query. */
  private val rates = Seq[(String, DataFrame => DataFrame)](
    "with its window" -> identity,
    "without its window" -> (_.select("before", "rate"))
  )

  for ((what, columns) <- rates)
    test(s"an aggregation $what computes no column for its node of groups that the query filters out") {
      withSettings(everything :+ ("spark.sql.ansi.enabled" -> "true"): _*) {
        val input = stream
        val name = s"rates_${freshNode()}"
        val before = count(when(col("value") < new Timestamp(Start - 1000), 1))
        val counts = watermarked(input).groupBy(window(col("value"), "1 second"))
          .agg(before.as("before"), (count("*") / before).as("rate"))
        val query = start(columns(counts.filter("before > 0")), name, "update")
        try {
          input.addData(ago(100, 1500, 1600))
          processAll(query)
          assert(figures("aggregate-1", name) === ((2, Some(0), Some(1000))))
          assert(figures("sink", name) === ((1, Some(1000), Some(1000))))
        } finally query.stop()
      }
    }

  test("a window that slides is as old as its end, also where no watermark tells of its timestamp") {
    withSettings("spark.sparklatency.auto" -> "terminal") {
      val rate = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1)
        .option("startTimestamp", Start - 60000).option("advanceMillisPerBatch", 0).load()
      val windows = rate.groupBy(window(col("timestamp"), "2 seconds", "1 second")).count()
      val query = windows.writeStream.format("noop").queryName("sliding").outputMode("update")
        .trigger(Trigger.AvailableNow()).start()
      query.awaitTermination()
      assert(figures("sink", "sliding") === ((2, Some(58000), Some(59000))))
    }
  }

  test(
    "where an aggregation by objects gives out its window for our nodes, one stage is compiled for all of them"
  ) {
    def stages(name: String, settings: (String, String)*): Int = withSettings(settings: _*) {
      val input = stream
      val lists =
        asText(_.groupBy(window(
          col("value"),
          "1 second"
        )).agg(collect_list(text).as("x")))(watermarked(input))
      val query = start(lists, name, "update")
      try {
        input.addData(ago(100, 200, 5000))
        processAll(query)
        Plans.collect(Plans.executed(query)) { case stage: WholeStageCodegenExec => stage }.size
      } finally query.stop()
    }
    assert(stages("objects_compiled", everything: _*) === stages("objects_plain") + 1)
    assert(nodesOf("objects_compiled").takeRight(2) === Seq("aggregate-1", "sink"))
  }

  test("a mark by hand above an aggregation over sorted rows stands for its node") {
    withSettings(everything: _*) {
      val input = stream
      val greatest = watermarked(input).groupBy(window(col("value"), "1 second")).agg(max(text).as("x"))
      val query = start(greatest.withE2ELatency("windows"), "sorted_by_hand", "update")
      try {
        input.addData(ago(100, 200, 5000))
        processAll(query)
        assert(nodesOf("sorted_by_hand") === Seq("source-0-memory", "windows"))
        assert(node("windows", "sorted_by_hand").measure("staleness").flatMap(_.max) === Some(5000))
      } finally query.stop()
    }
  }

  test("what was made distinct before is aggregated over sorted rows") {
    withSettings(everything: _*) {
      val input = stream
      val distinct = watermarked(input).select("value").distinct()
      val query =
        start(distinct.groupBy(window(col("value"), "1 second")).agg(max(text)), "sorted_distinct", "update")
      try {
        input.addData(ago(100, 100, 200, 5000))
        processAll(query)
        assert(nodesOf("sorted_distinct") === Seq("source-0-memory", "deduplicate-1", "aggregate-1", "sink"))
        assert(node("deduplicate-1", "sorted_distinct").records === 3)
        assert(node("aggregate-1", "sorted_distinct").records === 2)
      } finally query.stop()
    }
  }
}
