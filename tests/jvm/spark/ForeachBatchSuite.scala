package io.sparklatency.spark

import java.util.concurrent.CountDownLatch
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit

import scala.concurrent.Await
import scala.concurrent.Promise
import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.util.Try

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.exchange.Exchange
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.TemporaryFolder

/** What a function does with a batch, and in which threads, changes no count: a record counts once. */
class ForeachBatchSuite extends StreamingTest {

  test("each batch counts once, also when foreachBatch runs several actions on it") {
    val input = stream
    val seen = new java.util.concurrent.atomic.AtomicLong
    val query =
      marked(input).writeStream.queryName("several_actions").foreachBatch { (batch: DataFrame, _: Long) =>
        seen.addAndGet(batch.count() + batch.filter(col("value").isNotNull).count() + batch.collect().length)
        ()
      }.start()
    try {
      input.addData(ago(1, 2, 3))
      processAll(query)
      input.addData(ago(4))
      processAll(query)
      assert(seen.get === 12)
      assert((
        node("source", "several_actions").records,
        node("source", "several_actions").max
      ) === ((4, Some(4))))
    } finally query.stop()
  }

  /** Each reads the batch in a way of its own, some of them only a part of it, in an order in which the last one reads least. */
  private val readings = Map[String, DataFrame => Any](
    "a whole reading and one that stops at the first row" -> { batch => batch.count(); batch.head(1) },
    "through coalesce" -> { batch => batch.count(); batch.coalesce(1).count() },
    "twice in a union" -> { batch => batch.union(batch).count() },
    "twice in a union in one task" -> { batch => batch.union(batch.limit(1)).coalesce(1).count() },
    "each side many times in a cartesian product" -> { batch => batch.crossJoin(batch).count() }
  )

  for ((how, read) <- readings)
    test(s"a batch of foreachBatch counts once when it is read: $how") {
      val input = stream
      val query =
        marked(input).repartition(3).withE2ELatency("spread", "value").writeStream.queryName("readings")
          .foreachBatch { (batch: DataFrame, _: Long) => read(batch); () }.start()
      try {
        input.addData(ago(1L to 10L: _*))
        processAll(query)
        for (id <- Seq("source", "spread")) {
          val figures = node(id, "readings")
          assert((
            figures.records,
            figures.min,
            figures.avg,
            figures.max
          ) === ((10, Some(1), Some(5.5), Some(10))))
        }
      } finally query.stop()
    }

  test("a batch that a task reads twice at once, on both sides of a join without a shuffle, counts once") {
    withSettings("spark.sql.adaptive.enabled" -> "false") {
      val input = stream
      val dealt = marked(input).repartition(2, col("value")).withE2ELatency("spread", "value")
      val query = dealt.writeStream.queryName("joined_with_itself_within")
        .foreachBatch { (batch: DataFrame, _: Long) =>
          val joined = batch.hint("merge").join(batch, "value")
          assert(joined.queryExecution.executedPlan.collect { case shuffle: Exchange => shuffle }.isEmpty)
          joined.collect(): Unit
        }.start()
      try {
        input.addData(ago(1L to 10L: _*))
        processAll(query)
        val spread = node("spread", "joined_with_itself_within")
        assert(spread.figures === ((10, Some(1), Some(10))))
      } finally query.stop()
    }
  }

  test("marks within foreachBatch are the query's, and make no batches of their own") {
    val input = stream
    val query = marked(input).writeStream.queryName("inside")
      .foreachBatch { (batch: DataFrame, _: Long) =>
        val inside = batch.withE2ELatency("inside", "value")
        inside.count()
        ()
      }.start()
    try {
      for (ms <- 1L to 2L) {
        input.addData(ago(ms))
        processAll(query)
      }
      assert(Seq("source", "inside").map(node(_, "inside").records) === Seq(2, 2))
      assert(queryOf("inside").at("/batches").asInt === 2)
    } finally query.stop()
  }

  test("a mark within foreachBatch that a later action reads in two parts counts as the first has read it") {
    val input = stream
    val query =
      input.toDF().writeStream.queryName("read_in_parts").foreachBatch { (batch: DataFrame, _: Long) =>
        val marked = batch.coalesce(1).withE2ELatency("inside", "value")
        marked.collect()
        marked.limit(6).union(marked.limit(6)).collect(): Unit
      }.start()
    try {
      input.addData(ago(1L to 10L: _*))
      processAll(query)
      assert(node("inside", "read_in_parts").figures === ((10, Some(1), Some(10))))
    } finally query.stop()
  }

  test("what foreachBatch reads once more of the batch before takes no record from this one") {
    val input = stream
    var before = Option.empty[DataFrame]
    val query =
      input.toDF().writeStream.queryName("read_once_more").foreachBatch { (batch: DataFrame, _: Long) =>
        val marked = batch.withE2ELatency("inside", "value")
        marked.collect()
        before.foreach(_.collect())
        before = Some(marked)
      }.start()
    try {
      for (batch <- Seq(ago(1, 2, 3), ago(4, 5))) {
        input.addData(batch)
        processAll(query)
      }
      assert(node("inside", "read_once_more").figures === ((5, Some(1), Some(5))))
    } finally query.stop()
  }

  test("of several actions of foreachBatch the first tells how old records were at the source") {
    val input = stream
    val query = marked(input).writeStream.queryName("two_sinks")
      .foreachBatch { (batch: DataFrame, _: Long) =>
        for (sink <- Seq("lake", "jdbc")) {
          batch.withE2ELatency(sink, "value").count()
          clock.advance(1000)
        }
      }.start()
    try {
      input.addData(ago(5))
      processAll(query)
      assert(
        Seq("source", "lake", "jdbc").map(node(_, "two_sinks").figures) ===
          Seq((1, Some(5), Some(5)), (1, Some(5), Some(5)), (1, Some(1005), Some(1005)))
      )
    } finally query.stop()
  }

  test(
    "a marked table that foreachBatch reads does not stand on the stream's way, and what is joined with it does"
  ) {
    val folder = TemporaryFolder("customers").toString
    spark.range(2).select(timestamp_millis(lit(Start) - col("id") - 100).as("updated"))
      .write.mode("overwrite").parquet(folder)
    val input = stream
    val query = marked(input).writeStream.queryName("enriched_within").foreachBatch {
      (batch: DataFrame, _: Long) =>
        val table = spark.read.parquet(folder).withE2ELatency("customers", "updated")
        val joined = batch.crossJoin(table).withE2ELatency("joined", "value")
        joined.repartition(2).withE2ELatency("written", "value").write.format("noop").mode("overwrite").save()
    }.start()
    try {
      input.addData(ago(1, 2, 3))
      processAll(query)
      val upstream = Seq("source", "customers", "joined", "written").map { id =>
        id -> queryOf("enriched_within").at("/nodes").elements.asScala
          .find(_.get("node").asText == id).get.get("upstream").elements.asScala.map(_.asText).toSeq
      }
      assert(upstream === Seq(
        "source" -> Nil,
        "customers" -> Nil,
        "joined" -> Seq("customers", "source"),
        "written" -> Seq("joined")
      ))
    } finally query.stop()
  }

  for (whose <- Seq("another query", "nobody's query"))
    test(
      s"an action is the query's whose batch it reads, in a thread of a pool too that was made by $whose"
    ) {
      val pool = Executors.newFixedThreadPool(1)
      def inPool(action: Runnable): Unit = pool.submit(action).get(Patience.Seconds, TimeUnit.SECONDS): Unit
      if (whose == "nobody's query") inPool(() => ())
      val names = Seq("first", "second").map(number => s"pooled_${number}_${whose.takeWhile(_.isLetter)}")
      val queries = names.map { name =>
        val input = stream
        val query = marked(input).writeStream.queryName(name).foreachBatch { (batch: DataFrame, _: Long) =>
          inPool(() => batch.withE2ELatency(s"$name-out", "value").collect(): Unit)
        }.start()
        (input, query)
      }
      try {
        for (_ <- 1 to 2; (input, query) <- queries) { // the first of all makes the pool's thread
          input.addData(ago(1))
          processAll(query)
        }
        for (name <- names) {
          assert(nodesOf(name) === Seq("source", s"$name-out"))
          assert(node(s"$name-out", name).figures === ((2, Some(1), Some(1))))
        }
        assert(names.flatMap(name => findNode(s"$name-out")) === Nil, "nor are they of batch queries")
      } finally {
        queries.foreach(_._2.stop())
        pool.shutdown()
      }
    }

  test("what a thread of foreachBatch runs when the query has stopped is a batch query") {
    val (input, late, mayRun) = (stream, freshNode(), new CountDownLatch(1))
    val ran = Promise[Unit]()
    val query = marked(input).writeStream.queryName("outlived").foreachBatch { (_: DataFrame, _: Long) =>
      new Thread(() =>
        ran.complete(Try {
          mayRun.await()
          run(spark.range(2).select(timestamp_millis(lit(Start - 1)).as("ts")).withE2ELatency(late, "ts"))
        }): Unit
      ).start()
    }.start()
    try {
      input.addData(ago(1))
      processAll(query)
    } finally query.stop()
    mayRun.countDown()
    Await.result(ran.future, Patience.Seconds.seconds)
    assert(node(late).figures === ((2, Some(1), Some(1))))
    assert(findNode(late, query.id.toString) === None)
  }
}
