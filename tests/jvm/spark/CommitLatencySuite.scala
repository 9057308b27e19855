package io.sparklatency.spark

import java.sql.Timestamp
import java.util.concurrent.atomic.AtomicInteger

import scala.jdk.CollectionConverters._

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.ListenerBus
import org.apache.spark.sql.latency.TemporaryFolder

/** How old records are when the results of their batch can be seen, taken at the last nodes of a query. */
class CommitLatencySuite extends StreamingTest {

  private def commit(id: String, query: String = "__batch__") = node(id, query).measure("commit")

  test("the sink's own time is in the commit latency, and not in the node's before it") {
    val input = stream
    val query = marked(input).withE2ELatency("sink").writeStream.queryName("slow_sink")
      .foreachBatch { (batch: DataFrame, _: Long) => batch.collect(); clock.advance(400) }.start()
    try {
      input.addData(ago(100, 300, 2000))
      processAll(query)
      val sink = node("sink", "slow_sink")
      assert((sink.min, sink.avg, sink.max) === ((Some(100), Some(800.0), Some(2000))))
      val committed = sink.measure("commit").get
      assert((committed.min, committed.avg, committed.max) === ((Some(500), Some(1200.0), Some(2400))))
      assert(committed.long("p50").exists(p => math.abs(p - 700) <= 7))
      assert(commit("source", "slow_sink") === None, "only the last nodes have one")
    } finally query.stop()
  }

  test("a batch query's results can be seen when it ends") {
    val id = freshNode()
    run(spark.range(0, 3, 1, 1).select(col("id"), timestamp_millis(lit(Start) - col("id")).as("ts"))
      .withE2ELatency(id, "ts").select(slow(50)(col("id"))))
    val figures = node(id)
    assert(figures.min === Some(0) && figures.measure("commit").flatMap(_.max) === Some(152))
  }

  test("records without a timestamp have no commit latency, those ahead of the clock a negative one") {
    val id = freshNode()
    val micros = when(col("id") === 0, lit(null)).otherwise(lit((Start + 700) * 1000))
    run(spark.range(0, 2, 1, 1).select(timestamp_micros(micros.cast("long")).as("ts")).withE2ELatency(
      id,
      "ts"
    ))
    assert(commit(id).map(_.max) === Some(Some(-700)))
  }

  test("each branch that ends has its commit latency") {
    val ids = Seq.fill(2)(freshNode())
    val one = spark.range(1).select(timestamp_millis(lit(Start - 5)).as("ts"))
    run(ids.map(id => one.withE2ELatency(id, "ts")).reduce(_ union _))
    assert(ids.map(commit(_).flatMap(_.max)) === Seq(Some(5), Some(5)))
  }

  test(
    "a branch that ends has its commit latency with adaptive execution, too, whose last stage is planned last"
  ) {
    withSettings("spark.sql.adaptive.enabled" -> "true") {
      val (below, end) = (freshNode(), freshNode())
      val rows =
        spark.range(0, 100, 1, 4).select(col("id"), timestamp_millis(lit(Start) - col("id")).as("ts"))
      run(rows.withE2ELatency(below, "ts").repartition(3, col("id")).withE2ELatency(end, "ts"))
      assert(commit(below) === None)
      assert(commit(end).map(figures => (figures.min, figures.avg, figures.max)) ===
        Some((Some(0), Some(49.5), Some(99))))
    }
  }

  for (others <- Seq("before", "after"))
    test(
      s"an adaptive plan keeps its last nodes where another with one of them is made $others it, and runs"
    ) {
      withSettings("spark.sql.adaptive.enabled" -> "true") {
        val (below, end) = (freshNode(), freshNode())
        val rows =
          spark.range(0, 100, 1, 4).select(col("id"), timestamp_millis(lit(Start) - col("id")).as("ts"))
        val marked = rows.withE2ELatency(below, "ts")
        val counts = marked.groupBy("id").count()
        val newest = marked.groupBy(col("id") % 3).agg(max("ts").as("ts")).withE2ELatency(end, "ts")
        val made = if (others == "before") Seq(counts, newest) else Seq(newest, counts)
        made.foreach(_.queryExecution.executedPlan)
        val ran = made.reverse
        for (query <- ran) {
          query.collect()
          ListenerBus.awaitEmpty(spark.sparkContext)
          clock.advance(1000)
        }
        def after(query: DataFrame): Long = 1000L * ran.indexOf(query)
        assert(commit(end).flatMap(_.min) === Some(after(newest)))
        // Behind it there is none in one of the two.
        assert(commit(below).map(figures => (figures.min, figures.max)) ===
          Some((Some(after(counts)), Some(after(counts) + 99))))
      }
    }

  for (adaptive <- Seq(true, false))
    test(s"a node behind which rows are shuffled is the last if none follows, adaptive execution: $adaptive") {
      withSettings("spark.sql.adaptive.enabled" -> adaptive.toString) {
        val input = stream
        val query = marked(input).writeStream.queryName(s"counted_$adaptive").foreachBatch {
          (batch: DataFrame, _: Long) => batch.withE2ELatency("inside", "value").count(); clock.advance(30)
        }.start()
        try {
          input.addData(ago(1, 2, 3))
          processAll(query)
          assert(commit("inside", query.name).flatMap(_.max) === Some(33))
        } finally query.stop()
        val id = freshNode()
        run(spark.range(3).select(timestamp_millis(lit(Start - 5)).as("ts")).withE2ELatency(id, "ts").groupBy(
          "ts"
        ).count())
        assert(commit(id).flatMap(_.max) === Some(clock.millis() - Start + 5))
      }
    }

  test("a query that ends in a shuffle has a commit latency, too") {
    val input = stream
    val counts = newestOfEachSecond(marked(input)).withE2ELatency("sink", "last").repartition(1)
    val query = counts.writeStream.queryName("shuffled_end").outputMode("update")
      .foreachBatch { (batch: DataFrame, _: Long) => batch.collect(); clock.advance(30) }.start()
    try {
      input.addData(ago(1, 2, 3))
      processAll(query)
      assert(commit("sink", query.name).flatMap(_.max) === Some(31))
    } finally query.stop()
    for (adaptive <- Seq(true, false)) withSettings("spark.sql.adaptive.enabled" -> adaptive.toString) {
      val (below, end) = (freshNode(), freshNode())
      val rows = spark.range(3).select(timestamp_millis(lit(clock.millis() - 5)).as("ts"))
      run(rows.withE2ELatency(below, "ts").repartition(3).withE2ELatency(end, "ts").repartition(2))
      assert(Seq(below, end).map(commit(_).flatMap(_.max)) === Seq(None, Some(5)), adaptive)
    }
  }

  test(
    "a query without state that Spark is not to plan adaptively has a commit latency, though it plans others so"
  ) {
    withSettings(
      "spark.sql.adaptive.enabled" -> "true",
      "spark.sql.adaptive.streaming.stateless.enabled" -> "false"
    ) {
      val input = stream
      val query = marked(input).repartition(3).writeStream.queryName("shuffled_stateless")
        .foreachBatch { (batch: DataFrame, _: Long) => batch.collect(); clock.advance(30) }.start()
      try {
        input.addData(ago(1, 2, 3))
        processAll(query)
        assert(commit("source", query.name).flatMap(_.max) === Some(33))
      } finally query.stop()
    }
  }

  test("the commit latency does not come and go with the join that Spark chooses while a query runs") {
    val joins = Seq("10MB" -> true, "-1" -> false).map { case (threshold, isBroadcast) =>
      withSettings(
        "spark.sql.adaptive.enabled" -> "true",
        "spark.sql.autoBroadcastJoinThreshold" -> "-1",
        "spark.sql.adaptive.autoBroadcastJoinThreshold" -> threshold
      ) {
        val id = freshNode()
        val rows =
          spark.range(0, 100, 1, 2).select(col("id"), timestamp_millis(lit(clock.millis() - 5)).as("ts"))
        val few = spark.range(0, 100, 1, 2).filter("id % 7 = 3").select(col("id"))
        val joined = rows.join(few, "id").withE2ELatency(id, "ts").repartition(2)
        assert(joined.collect().length === 14)
        ListenerBus.awaitEmpty(spark.sparkContext)
        assert(joined.queryExecution.executedPlan.toString.contains("BroadcastHashJoin") === isBroadcast)
        commit(id).map(figures => (figures.min, figures.max))
      }
    }
    assert(joins === Seq.fill(2)(Some((Some(5), Some(5)))))
  }

  test("a mark inside foreachBatch counts once, whatever is done with its batch") {
    val input = stream
    val query = marked(input).writeStream.queryName("inside").foreachBatch { (batch: DataFrame, _: Long) =>
      val marked = batch.withE2ELatency("inside", "value")
      marked.count()
      marked.limit(1).collect()
      marked.collect()
      clock.advance(30)
    }.start()
    try {
      input.addData(ago(1, 2, 3))
      processAll(query)
      val inside = node("inside", "inside")
      assert((inside.records, inside.max) === ((3, Some(3))))
      assert(inside.toString.contains("\"upstream\":[\"source\"]"))
      assert(inside.measure("commit").flatMap(_.max) === Some(33))
      input.addData(Seq(new Timestamp(clock.millis() - 7)))
      processAll(query)
      assert(node("inside", "inside").records === 4)
    } finally query.stop()
  }

  test(
    "what foreachBatch runs in no execution of its own counts once, and nothing of it waits for a commit then"
  ) {
    val input = stream
    def oldest = latencyOf("handed_on").at("/queries/0/oldestUncommitted")
    val query = marked(input).writeStream.queryName("handed_on").foreachBatch { (batch: DataFrame, _: Long) =>
      batch.withE2ELatency("written", "value").write.format(classOf[HandedPlans].getName).save()
      val read = batch.withE2ELatency("read", "value")
      for (_ <- 1 to 2) read.queryExecution.toRdd.count()
      clock.advance(30)
    }.start()
    try for (batch <- 1 to 2) {
        input.addData(Seq(1L, 2L, 3L).map(ms => new Timestamp(clock.millis() - ms)))
        processAll(query)
        for (id <- Seq("written", "read")) {
          val inside = node(id, "handed_on")
          assert((inside.records, inside.max) === ((3 * batch, Some(3))), id)
          assert(inside.toString.contains("\"upstream\":[\"source\"]"))
          assert(inside.measure("commit").flatMap(_.max) === Some(33))
        }
        assert(oldest.isNull)
      }
    finally query.stop()
  }

  test(
    "of several actions inside foreachBatch that one stands which read most, however they are partitioned"
  ) {
    val input = stream
    val query = marked(input).writeStream.queryName("repartitioned").foreachBatch {
      (batch: DataFrame, _: Long) =>
        for (partitions <- Seq(1, 4, 2))
          batch.repartition(partitions).withE2ELatency("inside", "value").collect()
    }.start()
    try {
      input.addData(ago((1L to 40L): _*))
      processAll(query)
      assert((
        node("inside", "repartitioned").records,
        node("source", "repartitioned").records
      ) === ((40, 40)))
    } finally query.stop()
  }

  /** What foreachBatch keeps, reads, and uses once more like this waits for the commit until its batch ends, 30 ms later. */
  private def assertKeptWaits(name: String)(useAgain: DataFrame => Unit)(alsoAfter: Int => Unit): Unit = {
    val input = stream
    var oldest = Seq.empty[Long]
    val query = input.toDF().writeStream.queryName(name).foreachBatch { (batch: DataFrame, _: Long) =>
      val kept = batch.withE2ELatency("kept", "value").persist()
      kept.collect()
      useAgain(kept)
      clock.advance(30)
      oldest :+= latencyOf(name).at("/queries/0/oldestUncommitted").asLong
      kept.unpersist(): Unit
    }.start()
    try for (batch <- 1 to 2) {
        input.addData(Seq(1L, 2L, 3L).map(ms => new Timestamp(clock.millis() - ms)))
        processAll(query)
        assert(oldest === Seq.fill(batch)(33))
        val kept = node("kept", name)
        assert((kept.records, kept.measure("commit").flatMap(_.max)) === ((3 * batch, Some(33))))
        alsoAfter(batch)
      }
    finally query.stop()
  }

  test(
    "what foreachBatch keeps and reads again behind another node waits for the commit until its batch ends"
  ) {
    assertKeptWaits("kept_within") { kept =>
      val young = kept.where(col("value") > new Timestamp(clock.millis() - 2))
      young.withE2ELatency("behind", "value").collect(): Unit
    }(batch => assert(node("behind", "kept_within").records === batch))
  }

  test(
    "what foreachBatch keeps waits for the commit until its batch ends, though another action on it fails"
  ) {
    assertKeptWaits("kept_and_refused") { kept =>
      intercept[Exception](kept.select(raise_error(lit("refused"))).collect()): Unit
    }(_ => ())
  }

  test("reading a cached plan again makes no batch") {
    val id = freshNode()
    val cached = spark.range(0, 3, 1, 1).select(timestamp_millis(lit(Start - 5)).as("ts"))
      .withE2ELatency(id, "ts").cache()
    def batches: Int = {
      node(id)
      latencyOf("__batch__").at("/queries/0/batches").asInt
    }
    try {
      run(cached)
      val before = batches
      run(cached)
      run(cached.filter(col("ts").isNotNull))
      assert((batches, node(id).records) === ((before, 3)))
    } finally cached.unpersist()
  }

  test("the oldest record that is not committed grows older while its batch hangs in the sink") {
    val input = stream
    var seen = Seq.empty[Option[Long]]
    def oldest(): Unit = {
      val query = latencyOf(null).get("queries").elements.asScala.find(_.get("query").asText == "hanging")
      seen :+= query.map(_.get("oldestUncommitted")).filterNot(_.isNull).map(_.asLong)
    }
    val query = marked(input).writeStream.queryName("hanging").foreachBatch { (batch: DataFrame, id: Long) =>
      batch.collect()
      if (id == 1) for (_ <- 1 to 2) {
        oldest()
        clock.advance(60000)
      }
    }.start()
    try {
      Seq(ago(1), ago(100, 300)).foreach { batch =>
        input.addData(batch)
        processAll(query)
      }
      oldest()
      assert(seen === Seq(Some(300), Some(60300), None))
    } finally query.stop()
  }

  test("a batch that failed leaves nothing of what its function did") {
    val input = stream
    val attempts = new AtomicInteger
    def start(checkpoint: String) = marked(input).writeStream.queryName("failing")
      .option("checkpointLocation", checkpoint).foreachBatch { (batch: DataFrame, _: Long) =>
        batch.withE2ELatency("inside", "value").collect()
        if (attempts.incrementAndGet() == 1) throw new IllegalStateException("on purpose")
      }.start()
    val checkpoint = TemporaryFolder("checkpoint").toString
    input.addData(ago(1, 2))
    failure(start(checkpoint))
    val again = start(checkpoint)
    try {
      processAll(again)
      assert(Seq("source", "inside").map(node(_, "failing").records) === Seq(2, 2))
    } finally again.stop()
  }
}
