package io.sparklatency.spark

import java.sql.Timestamp

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.ListenerBus
import org.apache.spark.sql.latency.TemporaryFolder

/** The cases of Kafka Streams' own tests of its record-e2e-latency, with their numbers. Those of one recorder are in the core. */
class KafkaStreamsCasesSuite extends MatrixTest {

  private def event(key: String, at: Long): Event = Event(key, new Timestamp(at))

  /** Average, minimum and maximum, in the order of Kafka's tests. */
  private def stats(id: String, query: String = "__batch__"): Option[(Double, Long, Long)] = {
    val found = node(id, query)
    found.avg.map(average => (average, found.min.get, found.max.get))
  }

  /** The values of one gauge for all nodes of some queries. */
  private def gaugesOf(metric: String, queries: String*): Seq[Any] = {
    ListenerBus.awaitEmpty(spark.sparkContext)
    gauges.toSeq.collect {
      case (name, value)
          if queries.exists(q => name.startsWith(s"query.$q.")) && name.endsWith(s".$metric") => value
    }
  }

  private def latencyGauges(stat: String, queries: String*): Seq[Any] =
    gaugesOf(s"record-e2e-latency-$stat", queries: _*)

  test("shouldRecordE2ELatencyOnSourceNodeAndTerminalNodes: a source that forwards even keys only") {
    withSettings(atEnds: _*) {
      val input = events
      val query = start(watermarkedEvents(input).filter("key % 2 = 0"), "a1")
      try {
        def at(now: Long, key: Int): (Option[(Double, Long, Long)], Option[(Double, Long, Long)]) = {
          clock.set(now)
          input.addData(event(key.toString, 0))
          processAll(query)
          (stats("source-0-memory", "a1"), stats("sink", "a1"))
        }
        assert(at(10, 0) === ((Some((10.0, 10, 10)), Some((10.0, 10, 10)))))
        assert(at(15, 1) === ((Some((12.5, 10, 15)), Some((10.0, 10, 10)))))
        assert(at(23, 2) === ((Some((16.0, 10, 23)), Some((16.5, 10, 23)))))
        // Kafka keeps what it recorded in the clock's future. Here a clock that goes back leaves no figures that are yet to come.
        assert(at(5, 3) === ((Some((5.0, 5, 5)), None)))
        assert((node("source-0-memory", "a1").records, node("sink", "a1").records) === ((4, 2)))
      } finally query.stop()
    }
  }

  test(
    "shouldRecordE2ELatencyOnSourceNodeAndTerminalNodes: the clock goes back among the records of one batch"
  ) {
    val (source, terminal) = (freshNode(), freshNode())
    val read = KafkaStreamsCasesSuite.Read(Seq(10, 15, 23, 5))
    val rows = spark.range(0, 4, 1, 1).select(
      udf((id: Long) => read(id)).asNondeterministic()(col("id")).as("id"),
      timestamp_millis(lit(0)).as("ts")
    )
    run(rows.withE2ELatency(source, "ts").filter("id % 2 = 0").withE2ELatency(terminal, "ts"))
    assert((stats(source), stats(terminal)) === ((Some((13.25, 5, 23)), Some((16.5, 10, 23)))))
  }

  test("minimum and maximum are NaN before any record, and follow each record") {
    val input = events
    val query = start(watermarkedEvents(input).filter("key = 'a'").withE2ELatency("node"), "a2")
    try {
      def extremes(key: String, at: Long, now: Long): Seq[Double] = {
        clock.set(now)
        input.addData(event(key, at))
        processAll(query)
        Seq("min", "max").flatMap(latencyGauges(_, "a2")).map(_.asInstanceOf[Double])
      }
      val before = extremes("no record of the node", 0, 0)
      assert(before.size === 2 && before.forall(_.isNaN))
      val steps = Seq((0L, 10L), (10L, 25L), (5L, 30L), (35L, 40L)).map { case (at, now) =>
        extremes("a", at, now)
      }
      assert(steps === Seq(Seq(10.0, 10.0), Seq(10.0, 15.0), Seq(10.0, 25.0), Seq(5.0, 25.0)))
    } finally query.stop()
  }

  test(
    "terminal nodes are the sink and a last processor without one; each is a query of its own, with its own sources"
  ) {
    withSettings(atEnds: _*) {
      val (one, two) = (events, events)
      val shared = watermarkedEvents(one)
      val toSink = start(shared.filter("key = 'a'"), "a4_sink")
      val toProcessor =
        shared.union(watermarkedEvents(two)).writeStream.queryName("a4_processor").foreach(Drop).start()
      try {
        one.addData(event("a", Start - 3), event("b", Start - 5))
        two.addData(event("c", Start - 7))
        Seq(toSink, toProcessor).foreach(processAll)
        assert(nodesOf("a4_sink") === Seq("source-0-memory", "sink"))
        assert(nodesOf("a4_processor") === Seq("source-0-memory", "source-1-memory", "sink"))
        assertAges("source-0-memory", Seq(3, 5), "a4_sink")
        assertAges("sink", Seq(3), "a4_sink")
        assertAges("source-0-memory", Seq(3, 5), "a4_processor")
        assertAges("source-1-memory", Seq(7), "a4_processor")
        assertAges("sink", Seq(3, 5, 7), "a4_processor")
      } finally Seq(toSink, toProcessor).foreach(_.stop())
    }
  }

  test(
    "a chain of four tasks has each of average, minimum and maximum eight times, and none when they have stopped"
  ) {
    withSettings(atEnds: _*) {
      val topics = Seq.fill(5)(events)
      val names = (0 to 3).map(i => s"a5_$i")
      val queries = names.zipWithIndex.map { case (name, i) =>
        watermarkedEvents(topics(i)).writeStream.queryName(name).foreachBatch { (batch: DataFrame, _: Long) =>
          topics(i + 1).addData(batch.as[Event].collect().toSeq)
          clock.advance(100)
        }.start()
      }
      try {
        topics.head.addData(event("a", Start - 5))
        queries.foreach(processAll)
        for (stat <- Seq("avg", "min", "max"))
          assert(
            latencyGauges(stat, names: _*).map(_.asInstanceOf[Double]).sorted === Seq(
              5.0, 5.0, 105.0, 105.0, 205.0, 205.0, 305.0, 305.0
            ),
            stat
          )
      } finally queries.foreach(_.stop())
      assert(Seq("avg", "min", "max").flatMap(latencyGauges(_, names: _*)) === Seq.empty)
    }
  }

  /** Kafka has a metric for each store. Here it is one for each operator that keeps state, whatever its state store is. */
  private val stores = Seq[(String, DataFrame => DataFrame)](
    "aggregate-1" -> (_.groupBy(window(col("at"), "1 second")).agg(max("at"))),
    "session-window-1" -> (_.groupBy(col("key"), session_window(col("at"), "1 second")).agg(max("at"))),
    "deduplicate-1" -> (_.dropDuplicates("key", "at")),
    "deduplicate-within-watermark-1" -> (_.dropDuplicatesWithinWatermark("key")),
    "limit-1" -> (_.limit(3))
  )

  for ((id, operator) <- stores; (level, expected) <- Seq("DEBUG" -> Seq(), "TRACE" -> Seq(id)))
    test(s"the operator of '$id' has ${expected.size} of each metric at $level") {
      withSettings("spark.sparklatency.auto" -> "stateful", "spark.sparklatency.recording.level" -> level) {
        val input = events
        val name = freshNode()
        val query = start(operator(watermarkedEvents(input)), name)
        try {
          input.addData(event("a", Start - 1))
          processAll(query)
          assert(Seq("avg", "min", "max").map(latencyGauges(_, name).size) === Seq.fill(3)(expected.size))
          if (expected.nonEmpty) assert(nodesOf(name) === expected)
        } finally query.stop()
      }
    }

  for ((level, recorded) <- Seq("INFO" -> 1, "DEBUG" -> 2, "TRACE" -> 3))
    test(s"at $level, the first $recorded of the levels INFO, DEBUG and TRACE are recorded") {
      withSettings("spark.sparklatency.recording.level" -> level) {
        val ids = Seq.fill(3)(freshNode())
        val rows: DataFrame = spark.range(2).select(timestamp_millis(lit(Start)).as("ts"))
        run(ids.zip(Seq("INFO", "DEBUG", "TRACE")).foldLeft(rows) { case (df, (id, own)) =>
          df.withE2ELatency(id, "ts", own)
        })
        assert(ids.map(findNode(_).isDefined) === Seq(0, 1, 2).map(_ < recorded))
      }
    }

  test("after 2 x 30 s of silence each latency is NaN, and counts stay") {
    val id = freshNode()
    run(spark.range(1).select(timestamp_millis(lit(Start - 50)).as("ts")).withE2ELatency(id, "ts"))
    def all = Seq("min", "avg", "max", "p50", "p99").flatMap(latencyGauges(_, s"__batch__.node.$id"))
    clock.advance(59999)
    assert(all === Seq.fill(5)(50.0))
    clock.advance(1)
    assert(all.size === 5 && all.forall(_.asInstanceOf[Double].isNaN))
    assert(gaugesOf("records", s"__batch__.node.$id") === Seq(1L))
  }

  test("metrics go when a query is stopped and when it fails, and are there once after a restart") {
    val checkpoint = TemporaryFolder("checkpoint").toString
    val input = events
    val failing = udf { (key: String) =>
      if (key == "bad" && KafkaStreamsCasesSuite.fails) throw new IllegalStateException("on purpose") else key
    }
    def begin() = {
      val marked = watermarkedEvents(input).withE2ELatency("node").withColumn("key", failing(col("key")))
      start(marked, "a11", checkpoint = Some(checkpoint))
    }
    KafkaStreamsCasesSuite.fails = true
    val dirty = begin()
    input.addData(event("good", Start - 1))
    processAll(dirty)
    assert(latencyGauges("max", "a11") === Seq(1.0))
    input.addData(event("bad", Start - 2), event("good", Start - 3))
    failure(dirty)
    assert(latencyGauges("max", "a11") === Seq.empty)
    assertAges("node", Seq(1), "a11")

    KafkaStreamsCasesSuite.fails = false
    val recycled = begin()
    processAll(recycled)
    assert(latencyGauges("max", "a11") === Seq(3.0))
    assertAges("node", Seq(2, 3), "a11")
    recycled.stop()
    assert(latencyGauges("max", "a11") === Seq.empty)
  }

  test(
    "a record with a negative timestamp is counted as one without, and goes its way: Spark has no policy that drops it"
  ) {
    val input = events
    val query = start(
      watermarkedEvents(input).withE2ELatency("node").filter("key = 'old'").withE2ELatency("after"),
      "a12"
    )
    try {
      input.addData(event("old", -1))
      processAll(query)
      for (id <- Seq("node", "after")) {
        val found = node(id, "a12")
        assert((found.records, found.long("withoutTimestamp"), found.min) === ((1, Some(1), None)), id)
      }
      input.addData(event("a", Start - 4))
      processAll(query)
      assert((node("node", "a12").records, stats("node", "a12")) === ((2, Some((4.0, 4, 4)))))
    } finally query.stop()
  }

  // Kafka's lateness is of every record, behind the newest before it; here it is of what an operator drops, behind its watermark.
  test("lateness: of records 1, 2, 3, 4, 5, 2, 4, 6 two come late, by 3 and by 1") {
    withSettings("spark.sparklatency.auto" -> "stateful", "spark.sparklatency.recording.level" -> "TRACE") {
      val input = events
      val distinct = input.toDF().withWatermark("at", "0 seconds").dropDuplicates("key", "at")
      val query = start(distinct, "a13")
      try {
        for ((ms, i) <- Seq(1, 2, 3, 4, 5, 2, 4, 6).zipWithIndex) {
          input.addData(event(i.toString, Start + ms))
          processAll(query)
        }
        val lateness = node("deduplicate-1", "a13").measure("lateness").get
        assert((
          lateness.records,
          lateness.min,
          lateness.avg,
          lateness.max
        ) === ((2, Some(1), Some(2.0), Some(3))))
      } finally query.stop()
    }
  }

  for (automatic <- Seq(true, false))
    test(
      s"three seconds between source and terminal node are in the latter's figure, nodes written by hand: ${!automatic}"
    ) {
      withSettings("spark.sparklatency.auto" -> (if (automatic) atEnds.head._2 else "")) {
        val input = events
        val id = freshNode()
        val read = watermarkedEvents(input)
        val work = (if (automatic) read else read.withE2ELatency("source")).withColumn(
          "x",
          slow(3002)(col("at").cast("long"))
        )
        val query = start(if (automatic) work else work.withE2ELatency("end"), id)
        try {
          input.addData(event("a", Start - 15))
          processAll(query)
          assertAges(if (automatic) "source-0-memory" else "source", Seq(15), id)
          assertAges(if (automatic) "sink" else "end", Seq(3017), id)
        } finally query.stop()
      }
    }

  test("timestamps 100, 150 and 400 read at 1000 are 600 to 900 old, 783.33 on average") {
    val id = freshNode()
    clock.set(1000)
    run(spark.createDataFrame(Seq(
      100L,
      150L,
      400L
    ).map(Tuple1(_))).select(timestamp_millis(col("_1")).as("ts")).withE2ELatency(id, "ts"))
    assert(stats(id) === Some((2350.0 / 3, 600, 900)))
  }
}

private object KafkaStreamsCasesSuite {
  @volatile var fails = false

  /** What the clock shows when row 0, 1, … is read. */
  final case class Read(times: Seq[Long]) {
    def apply(id: Long): Long = { SparkTest.clock.set(times(id.toInt)); id }
  }
}
