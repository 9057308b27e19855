package io.sparklatency.spark

import java.sql.Timestamp

import scala.jdk.CollectionConverters._

import io.sparklatency.spark.Lines.MemoryStream
import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.TemporaryFolder
import org.apache.spark.sql.streaming.StreamingQuery

/** Which operators hold records, and which pass on in the same batch what they do not drop. By the clock on the wall. */
class HeldRecordsSuite extends StreamingTest {

  /** The parts of the age of what comes out of a batch: an old record that is new, where nine young ones had come before. */
  private def parts(
      name: String,
      mode: String = "append"
  )(plan: DataFrame => DataFrame): Map[String, Double] = {
    val input = stream
    val read = input.toDF().withWatermark("value", "10 minutes").withE2ELatency("source")
    val query = start(plan(read).withE2ELatency("sink", "value"), name, mode)
    try {
      val now = System.currentTimeMillis
      val young = new Timestamp(now)
      input.addData(young)
      processAll(query)
      input.addData(new Timestamp(now - 60000) +: Seq.fill(9)(young): _*)
      processAll(query)
      partsOf(name)
    } finally query.stop()
  }

  private def upstreamOf(node: String, name: String): Seq[String] =
    queryOf(name).get("nodes").elements.asScala.find(_.get("node").asText == node).get
      .get("upstream").elements.asScala.map(_.asText).toSeq

  private def partsOf(name: String): Map[String, Double] =
    queryOf(name).at("/parts/of").elements.asScala.toSeq
      .groupMapReduce(_.get("code").asText)(_.get("ms").asDouble)(_ + _)

  private def notesOf(name: String): Seq[String] =
    queryOf(name).get("notes").elements.asScala.map(_.get("code").asText).toSeq

  test("what drops duplicates holds no record: of the one that comes out all is told that made it old") {
    byTheWall {
      for (
        (name, plan) <- Seq[(String, DataFrame => DataFrame)](
          "held_not" -> (_.dropDuplicates("value")),
          "held_not_within_watermark" -> (_.dropDuplicatesWithinWatermark("value"))
        )
      ) {
        val told = parts(name)(plan)
        assert(!told.contains("waited-in-state"), told)
        assert(told("arrived-old") > 50000, told)
        assert(!notesOf(name).contains("different-records"))
      }
    }
  }

  test("of a stream that is joined with a table each batch tells what made its records old") {
    byTheWall {
      val table = spark.range(2).select(col("id").as("n"))
      val (both, named) = (broadcast(table), lit(1) === col("n"))
      for (
        (name, plan) <- Seq[(String, DataFrame => DataFrame)](
          "joined_with_a_table" -> (_.join(both, named)),
          "a_table_is_joined_with" -> (df => both.join(df, named))
        )
      ) {
        val told = parts(name)(plan)
        assert(told("arrived-old") > 5000 && told.contains("start-of-the-batch"), s"$name: $told")
      }
    }
  }

  test("the rows of a marked table did not come in with a batch, which reads them again") {
    byTheWall {
      val table = spark.range(1).select(timestamp_seconds(lit(0)).as("made")).withE2ELatency("table", "made")
      val told =
        parts("a_marked_table", "update")(_.crossJoin(broadcast(table)).groupBy("value").agg(count("*")))
      assert(told("arrived-old") < 3600000, told) // the table's are of 1970
    }
  }

  for (small <- Seq("table", "batch"))
    test(
      s"a marked table that an action of foreachBatch joins its batch with is no end, the small one being the $small"
    ) {
      byTheWall {
        val folder = TemporaryFolder("joined-within").toString
        spark.range(1).select(timestamp_seconds(lit(0)).as("made")).write.mode("overwrite").parquet(folder)
        val (input, name) = (stream, s"joined_within_$small")
        val query = marked(input).writeStream.queryName(name).foreachBatch { (batch: DataFrame, _: Long) =>
          val table = spark.read.parquet(folder).withE2ELatency("table", "made")
          val rows = batch.withE2ELatency("within", "value")
          // A join runs in the session of its left side: here in the user's, which plans adaptively.
          val both =
            if (small == "table") rows.crossJoin(broadcast(table)) else table.crossJoin(broadcast(rows))
          both.collect(): Unit
        }.start()
        try
          assertAsOldAsTheStream(input, query, name, "within")
        finally query.stop()
      }
    }

  /** Two batches of a record of eleven minutes are as old as that at a node, whatever the marked table says. */
  private def assertAsOldAsTheStream(
      input: MemoryStream[Timestamp],
      query: StreamingQuery,
      name: String,
      id: String
  ): Unit = {
    for (_ <- 1 to 2) {
      input.addData(new Timestamp(System.currentTimeMillis - 650000))
      processAll(query)
    }
    assert(node("table", name).records === 2 && node("table", name).measure("commit") === None)
    assert(node(id, name).measure("commit").flatMap(_.max).exists(_ < 3600000))
    assert(queryOf(name).at("/headline/text").asText.startsWith("Records arrive old: 11 min of 11 min ("))
    ()
  }

  test("a marked table that is the only mark in an action of foreachBatch is no end") {
    byTheWall {
      val folder = TemporaryFolder("joined-alone").toString
      spark.range(1).select(timestamp_seconds(lit(0)).as("made")).write.mode("overwrite").parquet(folder)
      val (input, name) = (stream, "only_a_table_within")
      val query = marked(input).writeStream.queryName(name).foreachBatch { (batch: DataFrame, _: Long) =>
        batch.crossJoin(broadcast(spark.read.parquet(folder).withE2ELatency("table", "made"))).collect(): Unit
      }.start()
      try
        assertAsOldAsTheStream(input, query, name, "source")
      finally query.stop()
    }
  }

  for (adaptive <- Seq(true, false); auto <- Seq("source", "source,terminal"))
    test(
      s"a marked table that is the only mark by hand beside automatic nodes ($auto) is no end, adaptive planning: $adaptive"
    ) {
      byTheWall {
        withSettings("spark.sparklatency.auto" -> auto, "spark.sql.adaptive.enabled" -> adaptive.toString) {
          val table =
            spark.range(1).select(timestamp_seconds(lit(0)).as("made")).withE2ELatency("table", "made")
          val (input, name) = (stream, s"only_a_table_${auto.replace(',', '_')}_$adaptive")
          var oldest = Seq.empty[Long]
          val query = watermarked(input).crossJoin(broadcast(table)).writeStream.queryName(name)
            .foreachBatch { (batch: DataFrame, _: Long) =>
              batch.collect()
              oldest :+= queryOf(name).get("oldestUncommitted").asLong
            }.start()
          try {
            for (_ <- 1 to 2) {
              input.addData(new Timestamp(System.currentTimeMillis - 60000))
              processAll(query)
            }
            assert(oldest.size === 2 && oldest.forall(ms => ms >= 60000 && ms < 600000), oldest)
            assert(node("table", name).records === 2 && node("table", name).measure("commit") === None)
            val end = if (auto == "source") "source-0-memory" else "sink"
            assert(node(end, name).measure("commit").flatMap(_.max).exists(_ < 600000))
            assert(partsOf(name)("arrived-old") < 600000, partsOf(name))
          } finally query.stop()
        }
      }
    }

  test("a marked table that a stream is joined or compared with is no end of the query") {
    byTheWall {
      val table = spark.range(1).select(timestamp_seconds(lit(0)).as("made")).withE2ELatency("table", "made")
      table.createOrReplaceTempView("marked_table")
      val rows =
        spark.createDataFrame(Seq(Tuple1(new Timestamp(0)))).toDF("made").withE2ELatency("table", "made")
      for (
        (name, plan) <- Seq[(String, DataFrame => DataFrame)](
          "joined_with_a_marked_table" -> (_.crossJoin(broadcast(table))),
          "broadcast_to_a_marked_table" -> (df => table.crossJoin(broadcast(df))),
          "broadcast_to_marked_rows" -> (df => rows.crossJoin(broadcast(df))),
          "compared_with_a_marked_table" -> (_.filter("value > (SELECT max(made) FROM marked_table)")),
          "compared_with_its_row" -> (_.filter("value > (SELECT made FROM marked_table)"))
        );
        adaptive <- Seq(true, false)
      ) withSettings("spark.sql.adaptive.enabled" -> adaptive.toString) {
        val (input, id) = (stream, s"${name}_$adaptive")
        var oldest = Seq.empty[Long]
        val query = plan(marked(input)).writeStream.queryName(id).foreachBatch {
          (batch: DataFrame, _: Long) =>
            batch.withE2ELatency("written", "value").collect()
            oldest :+= queryOf(id).get("oldestUncommitted").asLong
        }.start()
        try {
          for (_ <- 1 to 2) {
            input.addData(new Timestamp(System.currentTimeMillis - 650000))
            processAll(query)
          }
          assert(oldest.size === 2 && oldest.forall(ms => ms >= 600000 && ms < 3600000), (id, oldest))
          assert(partsOf(id)("arrived-old") < 3600000, (id, partsOf(id)))
          assert(node("table", id).records === 2 && node("table", id).measure("commit") === None, id)
          assert(node("source", id).measure("commit").flatMap(_.max).exists(_ < 3600000), id)
          assert(upstreamOf("written", id) === Seq("source"), id)
          val headline = queryOf(id).at("/headline/text").asText
          assert(headline.startsWith("Records arrive old: 11 min of 11 min ("), headline)
        } finally query.stop()
      }
    }
  }

  test("an old record that finds its match in the batch in which it comes has not waited in state") {
    byTheWall {
      val (shown, clicked, name) = (stream, stream, "joined_when_it_comes")
      def read(input: MemoryStream[Timestamp], column: String) =
        input.toDF().toDF(column).withWatermark(column, "10 minutes").withE2ELatency(s"source-$column")
      val joined = read(shown, "shown").join(
        read(clicked, "clicked"),
        expr("unix_seconds(shown) * 0 = unix_seconds(clicked) * 0")
      ).withE2ELatency("joined", "clicked")
      val query = start(joined, name)
      try {
        shown.addData(new Timestamp(System.currentTimeMillis))
        processAll(query)
        shown.addData(Seq.fill(9)(new Timestamp(System.currentTimeMillis)))
        clicked.addData(new Timestamp(System.currentTimeMillis - 60000))
        processAll(query)
        assert(node("joined", name).records === 10)
        val told = partsOf(name)
        assert(told("arrived-old") > 50000 && told.getOrElse("waited-in-state", 0.0) < 10000, told)
        val headline = queryOf(name).at("/headline/text").asText
        assert(headline.startsWith("Records arrive old"), headline)
      } finally query.stop()
    }
  }

  test("a limit holds none of those that it lets through") {
    byTheWall {
      val told = parts("held_not_by_a_limit")(_.limit(4))
      assert(!told.contains("waited-in-state"), told)
    }
  }

  test("an aggregate holds records: others come out than came in") {
    byTheWall {
      val told = parts("held", "update")(_.groupBy("value").agg(count("*")))
      assert(told.contains("waited-in-state"), told)
      assert(notesOf("held").contains("different-records"))
    }
  }

  /** What a record of `ageMs` that comes first is said to be, where foreachBatch goes on with what a window has held. */
  private def saidWithin(name: String, mode: String, ageMs: Long): String = {
    val input = stream
    val query = newestOfEachSecond(marked(input)).writeStream.queryName(name).outputMode(mode)
      .foreachBatch { (batch: DataFrame, _: Long) =>
        for (_ <- 1 to 2) batch.withE2ELatency("within", "last").write.format("noop").mode("overwrite").save()
      }.start()
    try {
      for (age <- Seq(ageMs, 0L)) {
        input.addData(new Timestamp(System.currentTimeMillis - age))
        processAll(query)
      }
      queryOf(name).at("/headline/text").asText
    } finally query.stop()
  }

  test("what foreachBatch goes on with has waited in state, and for what the operator waits") {
    byTheWall {
      val held = saidWithin("within_append", "append", 60000)
      assert(held.startsWith("Records wait in state before within, "), held)
      assert(held.contains("passes the end of their window of 1 s"), held)
      val within = node("within", "within_append")
      assert(within.records === 1)
      assert(math.abs(partsOf("within_append").values.sum - within.measure("commit").flatMap(_.avg).get) <= 1)
      val soFar = saidWithin("within_complete", "complete", 60000)
      assert(soFar.startsWith("Results at within are dated by older records in them"), soFar)
    }
  }

  test("what passed between a record's time and the one by which it came in has not passed in state") {
    byTheWall {
      val input = stream
      val read =
        input.toDF().withE2ELatency("read", "value").withColumn("at", expr("value - INTERVAL 1 HOUR"))
      val windows = read.withWatermark("at", "10 seconds").groupBy(window(col("at"), "1 second"))
      val name = "by_another_time"
      val query = start(windows.agg(max("at").as("last")).withE2ELatency("sink", "last"), name)
      try {
        val began = System.currentTimeMillis
        for (age <- Seq(60000, 30000, 0)) {
          input.addData(new Timestamp(System.currentTimeMillis - age))
          processAll(query)
        }
        val told = partsOf(name)
        val took = System.currentTimeMillis - began // no batch took longer, after which the last one came
        val (hour, held) = (3600000, 30000) // the second of them is given out last
        assert(told("arrived-old") > hour - took && told("arrived-old") < hour + held, told)
        assert(told("waited-in-state") > held - 1000 && told("waited-in-state") < hour / 2, told)
        assert(queryOf(name).at("/headline/text").asText.startsWith("Records arrive old: 1 h of 1 h"))
      } finally query.stop()
    }
  }
}
