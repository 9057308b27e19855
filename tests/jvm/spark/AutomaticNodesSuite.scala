package io.sparklatency.spark

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.TemporaryFolder

/** Nodes that nobody wrote: where they stand, and how they are called. */
class AutomaticNodesSuite extends StreamingTest {
  private def figures(id: String, query: String) = node(id, query).figures

  test("a query is marked at its sources and its end, at INFO") {
    withSettings("spark.sparklatency.auto" -> "source, terminal, stateful") {
      val input = stream
      val query =
        start(watermarked(input).dropDuplicates("value").filter(col("value").isNotNull), "auto_info")
      try {
        input.addData(ago(1, 2, 2))
        processAll(query)
        assert(nodesOf("auto_info") === Seq("source-0-memory", "sink"))
        assert(figures("source-0-memory", "auto_info") === ((3, Some(1), Some(2))))
        assert(figures("sink", "auto_info") === ((2, Some(1), Some(2))))
        // Also after a batch without data, whose plan has no source.
        assert(node("sink", "auto_info").toString.contains("\"upstream\":[\"source-0-memory\"]"))
      } finally query.stop()
    }
  }

  for (adaptive <- Seq(true, false))
    test(s"a stateless query with a shuffle is marked once in each place, adaptive planning being $adaptive") {
      withSettings((everything :+ ("spark.sql.adaptive.enabled" -> adaptive.toString)): _*) {
        val (one, two) = (stream, stream)
        val both = watermarked(
          one
        ).repartition(3).union(watermarked(two).repartition(2)).filter(col("value").isNotNull)
        val query = start(both.repartition(4), "auto_shuffled")
        try {
          one.addData(ago(1, 2))
          two.addData(ago(3))
          processAll(query)
          assert(nodesOf("auto_shuffled").sorted === Seq("sink", "source-0-memory", "source-1-memory"))
          assert(nodesOf("auto_shuffled").map(figures(_, "auto_shuffled")).toSet ===
            Set((2, Some(1), Some(2)), (1, Some(3), Some(3)), (3, Some(1), Some(3))))
        } finally query.stop()
      }
    }

  test(
    "a source still stands before the end where an adaptive plan drops its stage, as nothing came through"
  ) {
    withSettings((everything :+ ("spark.sql.adaptive.enabled" -> "true")): _*) {
      val (one, two) = (stream, stream)
      one.addData(ago(1, 2))
      two.addData(ago(3))
      val none = watermarked(one).filter(unix_millis(col("value")) < 0).repartition(3)
      val query = start(none.union(watermarked(two).repartition(2)), "auto_dropped_stage")
      try {
        processAll(query)
        def of(id: String) = node(id, "auto_dropped_stage")
        assert(of("source-0-memory").figures === ((2, Some(1), Some(2))))
        assert(of("source-0-memory").toString.contains("\"upstream\":[]"))
        assert(of("sink").figures === ((1, Some(3), Some(3))))
        assert(of("source-0-memory").measure("commit") === None, "what came in there did not come out")
        assert(of("sink").measure("commit").flatMap(_.max) === Some(3))
      } finally query.stop()
    }
  }

  for (adaptive <- Seq(true, false))
    test(
      s"what stands last has a commit latency and its parts, also before a shuffle, adaptive planning being $adaptive"
    ) {
      withSettings((everything :+ ("spark.sql.adaptive.enabled" -> adaptive.toString)): _*) {
        val shapes = Seq[(String, DataFrame => DataFrame, Seq[String])](
          ("dropped", _.select(lit(1).as("one")).repartition(2), Seq("source-0-memory")),
          ("kept", _.repartition(2), Seq("source-0-memory", "sink")),
          (
            "by_hand",
            _.withE2ELatency("hand", "value").repartition(2).select(col("value"), lit(1)),
            Seq("hand", "sink")
          )
        )
        for ((shape, steps, ids) <- shapes) {
          val (input, name) = (stream, s"auto_last_${shape}_$adaptive")
          val query = start(steps(watermarked(input)), name)
          try {
            input.addData(ago(1, 2, 30))
            processAll(query)
            assert(nodesOf(name).sorted === ids.sorted)
            assert(ids.map(node(_, name).measure("commit").flatMap(_.max)) ===
              ids.map(id => Some(30L).filter(_ => id == ids.last)))
            assert(queryOf(name).at("/parts/of").size > 0, name)
          } finally query.stop()
        }
      }
    }

  test("the actions of a foreachBatch are not marked, its batch is") {
    withSettings(everything: _*) {
      val input = stream
      val query =
        watermarked(input).writeStream.queryName("auto_batch").foreachBatch { (batch: DataFrame, _: Long) =>
          batch.groupBy("value").count().collect()
          batch.count()
          ()
        }.start()
      try {
        input.addData(ago(1, 2, 3))
        processAll(query)
        assert(nodesOf("auto_batch") === Seq("source-0-memory", "sink"))
        assert(Seq("source-0-memory", "sink").map(node(_, "auto_batch").records) === Seq(3, 3))
      } finally query.stop()
    }
  }

  test("an action of a foreachBatch that Spark knows to read nothing is not marked either") {
    withSettings(everything: _*) {
      val input = stream
      val query =
        watermarked(input).writeStream.queryName("auto_empty_action").foreachBatch {
          (batch: DataFrame, _: Long) =>
            batch.collect()
            batch.limit(0).collect()
            ()
        }.start()
      try {
        input.addData(ago(1, 2, 3))
        processAll(query)
        assert(nodesOf("auto_empty_action") === Seq("source-0-memory", "sink"))
        assert(node("source-0-memory", "auto_empty_action").toString.contains("\"upstream\":[]"))
        assert(node("sink", "auto_empty_action").figures === ((3, Some(1), Some(3))))
      } finally query.stop()
    }
  }

  test("a place that is marked by hand is not marked again") {
    withSettings("spark.sparklatency.auto" -> "source,terminal") {
      val input = stream
      val work = marked(input).withColumn("x", col("value").cast("long") + 1)
      val query = start(work.withE2ELatency("end", "value").select("value", "x"), "auto_by_hand")
      try {
        input.addData(ago(1))
        processAll(query)
        assert(nodesOf("auto_by_hand") === Seq("source", "end"))
      } finally query.stop()
      val other = stream
      val half = start(marked(other).withColumn("x", col("value").cast("long") + 1), "auto_half_by_hand")
      try {
        other.addData(ago(1))
        processAll(half)
        assert(nodesOf("auto_half_by_hand") === Seq("source", "sink"))
      } finally half.stop()
    }
  }

  test("nodes go by the same names after a restart, with another level too") {
    val checkpoint = TemporaryFolder("checkpoint").toString
    val input = stream
    def run(at: Long, level: String): Seq[String] = {
      var nodes = Seq.empty[String]
      withSettings(
        "spark.sparklatency.auto" -> "source,terminal,stateful",
        "spark.sparklatency.recording.level" -> level
      ) {
        val query = start(
          watermarked(input).dropDuplicatesWithinWatermark("value"),
          "auto_restart",
          checkpoint = Some(checkpoint)
        )
        try {
          input.addData(ago(at))
          processAll(query)
          if (level != "NONE") nodes = nodesOf("auto_restart")
        } finally query.stop()
      }
      nodes
    }
    assert(run(1, "INFO") === Seq("source-0-memory", "sink"))
    run(2, "NONE")
    assert(run(3, "TRACE") === Seq("source-0-memory", "deduplicate-within-watermark-1", "sink"))
  }

  test("a source is called after what it reads, and not after what else it can do") {
    val read = spark.readStream.format(classOf[HesitantSource].getName).load()
    withSettings("spark.sparklatency.auto" -> "source") {
      val query = start(read.withWatermark("value", "1 second"), "called")
      try {
        (1 to 2).foreach(_ => HesitantSource.add())
        processAll(query)
        assert(nodesOf("called") === Seq("source-0-hesitant"))
      } finally query.stop()
    }
  }
}
