package io.sparklatency.spark

import java.sql.Timestamp

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.Plans
import org.apache.spark.sql.latency.recording.RecordLatencyExec

/** Nodes at stateful operators that nobody wrote: how old rows are that they take in, and how late those that they drop. */
class AutomaticStatefulNodesSuite extends StreamingTest {
  private def figures(id: String, query: String) = node(id, query).figures

  test("stateful operators are marked at TRACE, each named after its kind and its place among them") {
    withSettings(everything: _*) {
      val input = stream
      val distinct = watermarked(input).dropDuplicates("value")
      val counted = newestOfEachSecond(distinct)
      val recounted = counted.groupBy(window(col("window"), "5 seconds")).agg(max("last").as("newest"))
      val query = start(recounted, "auto_trace")
      try {
        input.addData(ago(100, 200, 200, 5000))
        processAll(query)
        clock.advance(30000)
        input.addData(Seq(new Timestamp(Start + 30000)))
        processAll(query)
        assert(nodesOf("auto_trace") === Seq(
          "source-0-memory",
          "deduplicate-1",
          "aggregate-1",
          "aggregate-2",
          "sink"
        ))
        assert(node("deduplicate-1", "auto_trace").records === 4)
        // The two old windows are given out thirty seconds later, and are as old as the newest record of each.
        assert(figures("aggregate-1", "auto_trace") === ((2, Some(30100), Some(35000))))
        assert(figures("sink", "auto_trace")._1 === node("aggregate-2", "auto_trace").records)
      } finally query.stop()
    }
  }

  test("of two aggregations with no step between them each tells of what it takes in itself") {
    withSettings(everything: _*) {
      val input = stream
      val each = watermarked(input).groupBy(window(col("value"), "1 second"), expr("unix_millis(value) % 3"))
        .agg(max("value").as("last"))
      val query = start(each.groupBy("window").agg(max("last").as("newest")), "auto_stacked")
      try {
        input.addData(ago(100, 200))
        processAll(query)
        clock.advance(30000)
        input.addData(Seq(new Timestamp(Start + 30000)))
        processAll(query)
        input.addData(ago(300)) // the first drops it
        processAll(query)
        val (first, second) = (node("aggregate-1", "auto_stacked"), node("aggregate-2", "auto_stacked"))
        def staleness(of: ShownNode) = of.measure("staleness").map(ages => (ages.min, ages.max))
        assert(staleness(first) === Some((Some(0), Some(30300))))
        assert(staleness(second) === Some((Some(30100), Some(30200))), "when the first gave them out")
        def late(of: ShownNode) = of.measure("lateness").map(_.records)
        assert((late(first), late(second)) === ((Some(1), Some(0))))
      } finally query.stop()
    }
  }

  test("a join of two streams is as old as the newer of its two records, and sources keep their order") {
    withSettings(everything: _*) {
      val (left, right) = (stream, stream)
      val joined = watermarked(left).select(col("value").as("l"), lit(1).as("k"))
        .join(watermarked(right).select(col("value").as("r"), lit(1).as("k")), "k")
      val query = start(joined, "auto_join")
      try {
        left.addData(ago(50))
        right.addData(ago(7))
        processAll(query)
        assert(nodesOf("auto_join") === Seq("source-0-memory", "source-1-memory", "join-1", "sink"))
        assert(figures("source-0-memory", "auto_join")._2 === Some(50))
        assert(figures("source-1-memory", "auto_join")._2 === Some(7))
        assert(Seq("join-1", "sink").map(figures(_, "auto_join")) === Seq.fill(2)((1, Some(7), Some(7))))
      } finally query.stop()
    }
  }

  test("a stateful operator says how old rows are that it takes in, and how late those are that it drops") {
    withSettings(everything: _*) {
      val input = stream
      val counted = newestOfEachSecond(watermarked(input))
      val query = start(counted, "auto_late")
      try {
        input.addData(ago(100, 200))
        processAll(query)
        assert(node("aggregate-1", "auto_late").measure("lateness").get.records === 0)
        input.addData(Seq(new Timestamp(Start + 30000)))
        processAll(query)
        // The watermark is ten seconds behind: at 20 seconds after the start. The windows of these end at -1, 0 and 25 seconds.
        input.addData(Seq(-1200L, -300L, 24500L).map(ms => new Timestamp(Start + ms)))
        processAll(query)
        val aggregate = node("aggregate-1", "auto_late")
        val (staleness, lateness) = (aggregate.measure("staleness").get, aggregate.measure("lateness").get)
        assert((staleness.min, staleness.max) === ((Some(-30000), Some(1200))))
        assert((
          lateness.records,
          lateness.min,
          lateness.avg,
          lateness.max
        ) === ((2, Some(20000), Some(20500), Some(21000))))
        val dropped = query.recentProgress.flatMap(_.stateOperators).map(_.numRowsDroppedByWatermark).sum
        assert(dropped === 2)
        assert(gauges("query.auto_late.node.aggregate-1.records-dropped-late") === 2L)
        assert(gauges("query.auto_late.node.aggregate-1.record-lateness-max") === 21000.0)
        assert(gauges("query.auto_late.node.aggregate-1.record-staleness-max") === 1200.0)
        assert(!gauges.keys.exists(_.startsWith("query.auto_late.node.sink.record-lateness")))
      } finally query.stop()
    }
  }

  test("the staleness and lateness of an operator appear under the id that its end was given by hand") {
    withSettings(everything: _*) {
      val input = stream
      val newest = newestOfEachSecond(watermarked(input))
      val query = start(newest.withE2ELatency("windows", "last"), "auto_ended_by_hand", "update")
      try {
        input.addData(Seq(new Timestamp(Start + 30000)))
        processAll(query)
        input.addData(Seq(-1200L, 24500L).map(ms => new Timestamp(Start + ms)))
        processAll(query)
        assert(nodesOf("auto_ended_by_hand") === Seq("source-0-memory", "windows"))
        val windows = node("windows", "auto_ended_by_hand")
        assert((windows.records, windows.min, windows.max) === ((2, Some(-30000), Some(-24500))))
        val (staleness, lateness) = (windows.measure("staleness").get, windows.measure("lateness").get)
        assert((staleness.min, staleness.max) === ((Some(-30000), Some(1200))))
        assert((lateness.records, lateness.max) === ((1, Some(21000))))
      } finally query.stop()
    }
  }

  test("an id by hand that an operator would have leaves that operator out, and no other") {
    withSettings(everything: _*) {
      val input = stream
      val once = watermarked(input).withE2ELatency("deduplicate-1").dropDuplicates("value")
      val query = start(once.withColumn("x", expr("1")).dropDuplicates("value", "x"), "auto_taken")
      try {
        input.addData(ago(3, 3, 7))
        processAll(query)
        assert(nodesOf("auto_taken") === Seq("deduplicate-1", "deduplicate-2", "sink"))
        assert(figures("deduplicate-1", "auto_taken") === ((3, Some(3), Some(7))))
        assert(node("deduplicate-1", "auto_taken").measure("staleness").isEmpty)
        assert(node("deduplicate-2", "auto_taken").measure("staleness").flatMap(_.max) === Some(7))
      } finally query.stop()
    }
  }

  test("a join tells what came in late, and how old it was, of both of its sides") {
    withSettings(everything: _*) {
      val (left, right) = (stream, stream)
      val joined = watermarked(left).select(col("value").as("l"))
        .join(watermarked(right).select(col("value").as("r")), expr("l = r"))
      val query = start(joined, "auto_both_late")
      try {
        for (input <- Seq(left, right)) input.addData(Seq(new Timestamp(Start + 30000)))
        processAll(query)
        left.addData(ago(600))
        right.addData(ago(600, 700))
        processAll(query)
        val join = node("join-1", "auto_both_late")
        val (staleness, lateness) = (join.measure("staleness").get, join.measure("lateness").get)
        assert((lateness.records, lateness.min, lateness.max) === ((3, Some(20600), Some(20700))))
        assert((staleness.min, staleness.avg, staleness.max) === ((Some(-30000), Some(-11620.0), Some(700))))
      } finally query.stop()
    }
  }

  test("the end of a window tells its age where a query keeps no other timestamp") {
    withSettings(everything: _*) {
      def told(name: String, columns: String*) = {
        val input = stream
        val counts = watermarked(input).groupBy(window(col("value"), "1 second"))
          .agg(count("*").as("records"), max("value").as("newest"))
        val query = start(counts.selectExpr(columns: _*), name, "update")
        try {
          input.addData(ago(3000, 5000))
          processAll(query)
          Seq("aggregate-1", "sink").map(figures(_, name)).distinct ->
            node("sink", name).text("timestamp")
        } finally query.stop()
      }
      val ends = Seq((2, Some(2000), Some(4000))) -> Some("until")
      assert(told("auto_ends", "window.start", "window.end AS until", "records") === ends)
      val newest = Seq((2, Some(3000), Some(5000))) -> Some("newest")
      assert(told("auto_newest", "window.start", "window.end AS until", "newest") === newest)
    }
  }

  test("the code of a batch is that of the batch before, although its watermark is another") {
    withSettings(everything: _*) {
      val input = stream
      var read = Seq.empty[Long]
      val batches = Plans.batches(spark.sparkContext) {
        val query =
          start(watermarked(input).groupBy(window(col("value"), "1 second")).count(), "auto_code", "update")
        try {
          for (seconds <- Seq(20, 40, 60, 80)) {
            input.addData(Seq(new Timestamp(Start + seconds * 1000)))
            processAll(query)
          }
          read = query.recentProgress.toSeq.filter(_.numInputRows > 0).map(_.batchId)
        } finally query.stop()
      }
      // Each is followed by one that reads nothing. The first has no watermark yet.
      val codes = read.tail.map(batch => Plans.generatedCode(batches(batch)))
      assert(read.size === 4 && codes.head.exists(_.contains("watermark")))
      assert(codes.distinct.size === 1)
    }
  }

  test("what a join and a deduplication drop late is counted on the side where it came in") {
    withSettings(everything: _*) {
      val (left, right) = (stream, stream)
      val joined = watermarked(left).dropDuplicates("value").select(col("value").as("l"), lit(1).as("k"))
        .join(watermarked(right).select(col("value").as("r"), lit(1).as("k")), expr("l = r"))
      val query = start(joined, "auto_late_join")
      try {
        for (input <- Seq(left, right)) input.addData(Seq(new Timestamp(Start + 30000)))
        processAll(query)
        left.addData(ago(500))
        right.addData(ago(700, 800))
        processAll(query)
        def late(id: String) =
          node(id, "auto_late_join").measure("lateness").map(f => (f.records, f.min, f.max))
        assert(late("deduplicate-1") === Some((1, Some(20500), Some(20500))))
        assert(late("join-1") === Some((2, Some(20700), Some(20800))))
      } finally query.stop()
    }
  }

  for (mode <- Seq("CODEGEN_ONLY", "NO_CODEGEN"))
    test(s"between operators without generated code a node is told the partition it reads, in mode $mode") {
      withSettings(everything :+ ("spark.sql.codegen.factoryMode" -> mode): _*) {
        val input = stream
        val name = s"auto_coalesced_$mode"
        val query = start(watermarked(input).dropDuplicates("value").coalesce(1), name)
        try {
          input.addData(ago(1, 2, 3, 4, 5, 6, 7, 8))
          processAll(query)
          input.addData(ago(120001, 120002))
          processAll(query)
          assert(Plans.executed(query).exists(_.isInstanceOf[RecordLatencyExec]))
          assert(figures("deduplicate-1", name) === ((8, Some(1), Some(8))))
          assert(figures("sink", name) === ((8, Some(1), Some(8))))
          val late = node("deduplicate-1", name).measure("lateness").map(f => (f.records, f.min, f.max))
          assert(late === Some((2, Some(110000), Some(110001))))
        } finally query.stop()
      }
    }
}
