package io.sparklatency.spark

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.ListenerBus
import org.apache.spark.sql.latency.Plans
import org.apache.spark.sql.latency.TemporaryFolder

/** Batch queries that nobody marked. */
class AutomaticBatchSuite extends StreamingTest with Sampled {
  private val inBatch = everything :+ ("spark.sparklatency.auto.batch" -> "true")

  /** Two partitions, each with the ages 1, 2, … `records` milliseconds. */
  private def topic(name: String, records: Int = 10): DataFrame =
    spark.read.format(classOf[TopicProvider].getName).option("topic", name).option("now", Start)
      .option("records", records).load()

  /** Records, minimum and maximum of each node that counted while `query` ran. */
  private def counted(query: => Any): Map[String, (Long, Long, Long)] = {
    val before = nodes.map { case (id, node) => id -> node.get("records").asLong }
    query
    nodes.collect {
      case (id, node) if node.get("records").asLong > before.getOrElse(id, 0L) =>
        val batch = node.get("batch")
        assert(batch.get("records").asLong === node.get("records").asLong - before.getOrElse(id, 0L))
        id -> ((batch.get("records").asLong, batch.get("min").asLong, batch.get("max").asLong))
    }
  }

  private def nodes: Map[String, JsonNode] = {
    ListenerBus.awaitEmpty(spark.sparkContext)
    latencyOf(null).get("queries").elements.asScala
      .filter(_.get("query").asText == "__batch__").flatMap(_.get("nodes").elements.asScala).map(node =>
        node.get("node").asText -> node
      ).toMap
  }

  private def write(df: DataFrame): Unit = df.write.format("noop").mode("overwrite").save()

  private def write(df: DataFrame, folder: String): Unit = df.write.mode("overwrite").parquet(folder)

  test("a batch query is marked at its source and its end, if that is asked for") {
    withSettings(inBatch: _*) {
      assert(counted(write(topic("asked"))) ===
        Map("source-0-kafka[asked]" -> ((20, 1, 10)), "sink" -> ((20, 1, 10))))
    }
    withSettings(everything: _*)(assert(counted(write(topic("streaming-only"))) === Map()))
    withSettings("spark.sparklatency.auto.batch" -> "true") {
      assert(counted(write(topic("nowhere"))) === Map())
    }
  }

  test("a source that reads topics by a pattern is named by all of it") {
    withSettings(inBatch: _*) {
      assert(counted(write(topic("[a-z]+-by-[0-9]"))) ===
        Map("source-0-kafka[[a-z]+-by-[0-9]]" -> ((20, 1, 10)), "sink" -> ((20, 1, 10))))
    }
  }

  test("the end is that of a collect, a write of files and a write of a table") {
    val folder = TemporaryFolder("written").toString
    withSettings(inBatch: _*) {
      val ends = Seq[(String, DataFrame => Any)](
        "collect" -> (_.collect()),
        "files" -> (write(_, folder)),
        "table" -> (_.write.mode("overwrite").saveAsTable("written_by_batch"))
      )
      try
        for ((name, end) <- ends; adaptive <- Seq(true, false); shuffled <- Seq(true, false))
          withSettings("spark.sql.adaptive.enabled" -> adaptive.toString) {
            val read = topic(name).filter(col("value") > 4)
            assert(
              counted(end(if (shuffled) read.repartition(3) else read)) ===
                Map(s"source-0-kafka[$name]" -> ((20, 1, 10)), "sink" -> ((12, 5, 10))),
              s"$name, adaptive: $adaptive, shuffled: $shuffled"
            )
          }
      finally spark.sql("DROP TABLE IF EXISTS written_by_batch")
    }
  }

  for (adaptive <- Seq(true, false))
    test(s"each place is marked once through several stages, adaptive planning being $adaptive") {
      withSettings(inBatch :+ ("spark.sql.adaptive.enabled" -> adaptive.toString): _*) {
        val (left, right) = (topic("left"), topic("right", 3).withColumnRenamed("timestamp", "other"))
        val joined = left.hint("merge").join(right.hint("merge"), "value").repartition(4).orderBy("value")
        val sides = Map("source-0-kafka[left]" -> ((20, 1, 10)), "source-1-kafka[right]" -> ((6, 1, 3)))
        assert(counted(write(joined)) === sides + ("sink" -> ((12, 1, 3))))
      }
    }

  for (adaptive <- Seq(true, false))
    test(
      s"the source is the last node where no timestamp comes through a shuffle, adaptive planning being $adaptive"
    ) {
      withSettings(inBatch :+ ("spark.sql.adaptive.enabled" -> adaptive.toString): _*) {
        val (dropped, kept) = (s"dropped-$adaptive", s"kept-$adaptive")
        write(topic(dropped).select("value").repartition(3))
        write(topic(kept).repartition(3))
        val ended = Seq(dropped, kept).map(name => nodes(s"source-0-kafka[$name]").hasNonNull("commit"))
        assert(ended === Seq(true, false))
      }
    }

  test("an end to which no timestamp survives is left out, and the log says so once") {
    withSettings(inBatch: _*) {
      val log = Logged.during {
        for (_ <- 1 to 3) {
          val counts = topic("counts").groupBy("value").agg(count("*").as("times"))
          assert(counted(counts.collect()) === Map("source-0-kafka[counts]" -> ((20, 1, 10))))
        }
      }
      assert(log.filter(_.contains("left out")) === Seq(
        "query '__batch__': node 'sink' is left out: no column there is known to hold a record timestamp: 'value', 'times'; the aggregation " +
          "by value drops 'timestamp': keep its max there"
      ))
    }
  }

  test("a source without timestamps is left out, the log says so once, and a mark by hand counts there") {
    val folder = TemporaryFolder("parquet").toString
    write(spark.range(5).select(col("id"), timestamp_millis(lit(Start) - col("id")).as("at")), folder)
    withSettings(inBatch: _*) {
      val (files, byHand) = (spark.read.parquet(folder), freshNode())
      val log = Logged.during {
        for (_ <- 1 to 3) assert(counted(files.collect()) === Map())
        assert(counted(files.withE2ELatency(byHand, "at").collect()) === Map(byHand -> ((5, 0, 4))))
      }
      assert(log.filter(_.contains("left out")) === Seq(
        "query '__batch__': reads of parquet are left out: they have no record timestamp of their own; mark them by hand, " +
          "by a column or by with_ingestion_timestamp"
      ))
      val joined = topic("with-files", 3).join(files, col("id") === col("value"))
      assert(counted(joined.collect()) ===
        Map("source-0-kafka[with-files]" -> ((6, 1, 3)), "sink" -> ((6, 1, 3))))
    }
  }

  test("of what Delta reads of its own log the log says nothing") {
    val files = TemporaryFolder("table").resolve("_delta_log/0.json").toString
    spark.range(5).write.json(files)
    withSettings(inBatch: _*) {
      val log = Logged.during(assert(counted(spark.read.json(files).collect()) === Map()))
      assert(log.filter(_.contains("left out")) === Seq())
    }
  }

  test("a place that is marked by hand is not marked again") {
    withSettings(inBatch: _*) {
      val (first, last) = (freshNode(), freshNode())
      val both = topic("by-hand").withE2ELatency(first, "timestamp").filter(col("value") > 5)
        .withE2ELatency(last, "timestamp")
      assert(counted(write(both)) === Map(first -> ((20, 1, 10)), last -> ((10, 6, 10))))
    }
  }

  for (adaptive <- Seq(true, false))
    test(s"a subquery has a source and no end, adaptive planning being $adaptive") {
      withSettings(inBatch :+ ("spark.sql.adaptive.enabled" -> adaptive.toString): _*) {
        topic("outer").createOrReplaceTempView("outer_topic")
        topic("inner", 3).createOrReplaceTempView("inner_topic")
        val newest = "SELECT * FROM outer_topic WHERE timestamp >= (SELECT max(timestamp) FROM inner_topic)"
        assert(counted(spark.sql(newest).collect()) === Map(
          "source-0-kafka[outer]" -> ((20, 1, 10)),
          "source-1-kafka[inner]" -> ((6, 1, 3)),
          "sink" -> ((2, 1, 1))
        ))
      }
    }

  for (adaptive <- Seq(true, false))
    test(s"no record of a subquery comes to the end of the query, adaptive planning being $adaptive") {
      withSettings(inBatch :+ ("spark.sql.adaptive.enabled" -> adaptive.toString): _*) {
        val (orders, done) = (s"orders-$adaptive", s"processed-$adaptive")
        topic(orders).createOrReplaceTempView("orders")
        topic(done).withColumn("timestamp", expr("timestamp - INTERVAL 5 DAYS"))
          .createOrReplaceTempView("processed")
        val newer = "SELECT * FROM orders WHERE timestamp > (SELECT max(timestamp) FROM processed)"
        assert(counted(spark.sql(newer).collect()).keySet ===
          Set(s"source-0-kafka[$orders]", s"source-1-kafka[$done]", "sink"))
        val upstream = nodes("sink").get("upstream").elements.asScala.map(_.asText).toSet
        assert(upstream(s"source-0-kafka[$orders]") && !upstream(s"source-1-kafka[$done]"), upstream)
        assert(!nodes(s"source-1-kafka[$done]").hasNonNull("commit") && nodes("sink").hasNonNull("commit"))
      }
    }

  for (adaptive <- Seq(true, false); shuffled <- Seq(true, false))
    test(s"what is cached is not marked, adaptive planning being $adaptive, shuffled: $shuffled") {
      withSettings(inBatch :+ ("spark.sql.adaptive.enabled" -> adaptive.toString): _*) {
        val read = topic("cached").filter(col("value") < 9)
        val cached = (if (shuffled) read.repartition(3) else read).cache()
        try {
          for (_ <- 1 to 2) assert(counted(cached.collect()) === Map())
          val more = cached.union(topic("uncached", 1).withColumn("value", col("value") + 1)).repartition(2)
          assert(counted(more.collect()) === Map("source-0-kafka[uncached]" -> ((2, 1, 1))))
        } finally cached.unpersist()
      }
    }

  test("a source that is read twice is one") {
    withSettings(inBatch: _*) {
      val read = topic("twice")
      val joined = read.as("l").hint("merge").join(read.as("r").hint("merge"), expr("l.value = r.value"))
      assert(counted(joined.select("l.*").collect()) ===
        Map("source-0-kafka[twice]" -> ((20, 1, 10)), "sink" -> ((40, 1, 10))))
    }
  }

  test("what takes some rows only reads no more of them, and is no end") {
    withSettings(inBatch: _*) {
      assert(counted(topic("head").head(2)).keySet === Set("source-0-kafka[head]"))
      assert(counted(topic("head").head(2))("source-0-kafka[head]")._1 <= 10)
      assert(counted(topic("top").orderBy("value").limit(2).collect()) ===
        Map("source-0-kafka[top]" -> ((20, 1, 10))))
    }
  }

  test("the actions of a foreachBatch are not marked") {
    withSettings(inBatch: _*) {
      val input = stream
      val query = watermarked(input).writeStream.foreachBatch { (batch: DataFrame, _: Long) =>
        batch.crossJoin(topic("static")).collect()
        ()
      }.start()
      try assert(counted { input.addData(ago(1)); processAll(query) } === Map())
      finally query.stop()
    }
  }

  private lazy val parts: String = {
    val folder = TemporaryFolder("parts").toString
    spark.range(20).withColumn(
      "part",
      col("id") % 10
    ).write.partitionBy("part").mode("overwrite").parquet(folder)
    folder
  }

  private val shapes = Seq[(String, () => DataFrame)](
    "dynamic pruning by the side that is given out" -> { () =>
      val pruning = topic("shape").filter("value > 3 AND value < 6")
      spark.read.parquet(parts).join(
        broadcast(pruning),
        col("part") === col("value")
      ).select("value", "timestamp")
    },
    "read" -> (() => topic("shape")),
    "filter and projection" -> (() => topic("shape").filter("value > 3").select(col("value") + 1)),
    "aggregation" -> (() => topic("shape").groupBy("value").agg(max("timestamp"))),
    "sort" -> (() => topic("shape").orderBy("value")),
    "limit" -> (() => topic("shape").limit(3)),
    "ordered limit" -> (() => topic("shape").orderBy("value").limit(3)),
    "broadcast join" -> (() => topic("shape").join(broadcast(topic("other")), "value")),
    "join with itself" -> { () =>
      val read = topic("shape").hint("merge")
      read.as("l").join(read.as("r"), expr("l.value = r.value"))
    },
    "subquery" -> { () =>
      topic("shape").createOrReplaceTempView("shape")
      spark.sql("SELECT * FROM shape WHERE value = (SELECT max(value) FROM shape)")
    },
    "coalesce" -> (() => topic("shape").coalesce(1)),
    "repartition" -> (() => topic("shape").repartition(3).union(topic("other").repartition(2)))
  )

  for (((name, shape), adaptive) <- sample.of(shapes, Seq(true, false)))
    test(s"automatic nodes leave a batch query's plan as it is: $name, adaptive planning being $adaptive") {
      withSettings("spark.sql.adaptive.enabled" -> adaptive.toString) {
        def run() = {
          val df = shape()
          df.collect()
          df.queryExecution.executedPlan
        }
        val plain = run()
        assert(Plans.marks(plain) === 0)
        withSettings(inBatch: _*) {
          val automatic = run()
          assert(Plans.withoutMarks(automatic) === Plans.withoutMarks(plain))
          assert(Plans.marks(automatic) > 0)
        }
      }
    }
}
