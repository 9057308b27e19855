package io.sparklatency.spark

import java.sql.Timestamp
import java.util.concurrent.LinkedBlockingQueue

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper
import io.sparklatency.spark.Lines.ClassicSession
import io.sparklatency.spark.Lines.MemoryStream
import io.sparklatency.spark.syntax._
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.ListenerBus
import org.apache.spark.sql.latency.Sessions
import org.apache.spark.sql.latency.TemporaryFolder
import org.apache.spark.sql.streaming.StreamingQueryListener
import org.apache.spark.sql.streaming.StreamingQueryListener.QueryProgressEvent
import org.apache.spark.sql.streaming.StreamingQueryListener.QueryStartedEvent
import org.apache.spark.sql.streaming.StreamingQueryListener.QueryTerminatedEvent

class StreamingSuite extends StreamingTest {

  test("nodes forget together: a filter that takes no time is not the slow step") {
    val input = stream
    val passed = marked(input).filter("unix_millis(value) % 2 = 0").withE2ELatency("passed", "value")
    val query = start(passed, "forgets")
    def batch(secondsLater: Long, ages: Long*): Unit = {
      clock.advance(secondsLater * 1000)
      input.addData(ages.map(age => new Timestamp(clock.millis() - age)))
      processAll(query)
    }
    try {
      batch(0, 1)
      batch(20, 100000)
      batch(25, 10)
      batch(40, 10)
      for (id <- Seq("source", "passed")) assert(node(id, "forgets").max === Some(10), id)
      assert(node("passed", "forgets").long("own") === Some(0))
    } finally query.stop()
  }

  for (mode <- Seq("append", "update", "complete"))
    test(s"marks below and above a window aggregation in $mode mode") {
      val input = stream
      val counted = newestOfEachSecond(marked(input))
      val query = start(counted.withE2ELatency("windowed", "last"), s"windows_$mode", mode)
      try {
        input.addData(ago(100, 200, 5000))
        processAll(query)
        val source = node("source", s"windows_$mode")
        assert((source.records, source.min, source.max) === ((3, Some(100), Some(5000))))
        val windowed = node("windowed", s"windows_$mode")
        if (mode == "append") assert((windowed.records, windowed.min) === ((0, None)))
        else assert((windowed.records, windowed.min, windowed.max) === ((2, Some(100), Some(5000))))

        // Twelve seconds later both windows are behind the watermark, and append mode gives them out.
        clock.advance(12000)
        input.addData(Seq(new Timestamp(Start + 12000)))
        processAll(query)
        assert(node("source", s"windows_$mode").records === 4)
        assert(node("windowed", s"windows_$mode").records === (mode match {
          case "append" => 2
          case "update" => 3
          case "complete" => 5
        }))
      } finally query.stop()
    }

  test("what is written while Spark asks two streams of one topic counts once, with the first of them") {
    WrittenTopic.anew()
    val one = spark.readStream.format(classOf[WrittenTopic].getName).load().withE2ELatency("topic", "value")
    val twice = one.as("a").join(one.as("b"), expr("a.value = b.value")).select("a.value")
    val joined = twice.withE2ELatency("joined", "value")
    val query = start(joined, "joined_with_itself")
    try {
      processAll(query)
      val read =
        query.recentProgress.filter(_.numInputRows > 0).map(_.sources.map(_.numInputRows).toSeq).toSeq
      assert(read === Seq(Seq(10, 11), Seq(10, 9), Seq(0, 5), Seq(5, 0)))
      assert(Seq("topic", "joined").map(node(_, "joined_with_itself").records) === Seq(25, 25))
    } finally query.stop()
  }

  test("a query without a name goes by its id, which a restart keeps") {
    val checkpoint = TemporaryFolder("checkpoint").toString
    val input = stream
    val first = start(marked(input), "", checkpoint = Some(checkpoint))
    input.addData(ago(1, 2))
    processAll(first)
    assert(node("source", first.id.toString).records === 2)
    first.stop()
    ListenerBus.awaitEmpty(spark.sparkContext)
    assert(!gauges.keys.exists(_.contains(first.id.toString)), "the gauges of a stopped query are gone")
    assert(node("source", first.id.toString).records === 2, "its last figures can still be read")

    val second = start(marked(input), "", checkpoint = Some(checkpoint))
    try {
      input.addData(ago(3))
      processAll(second)
      assert(second.id === first.id)
      assert(node("source", second.id.toString).records === 1, "a new run begins anew")
    } finally second.stop()
  }

  test("stopping one query keeps the metrics of a query whose name starts with it") {
    val (clicks, enriched) = (stream, stream)
    val one = start(marked(clicks), "clicks")
    val other = start(marked(enriched), "clicks_enriched")
    try {
      clicks.addData(ago(1))
      enriched.addData(ago(2))
      Seq(one, other).foreach(processAll)
      assert(Seq("clicks", "clicks_enriched").map(node("source", _).records) === Seq(1, 1))
      one.stop()
      ListenerBus.awaitEmpty(spark.sparkContext)
      assert(!gauges.keys.exists(_.startsWith("query.clicks.")))
      assert(gauges("query.clicks_enriched.node.source.record-e2e-latency-max") === 2.0)
    } finally Seq(one, other).foreach(_.stop())
  }

  test("marks are added and removed between restarts of one checkpoint, around a stateful operator") {
    val checkpoint = TemporaryFolder("checkpoint").toString
    val input = stream
    def run(mark: Boolean, at: Long): Unit = {
      val source = if (mark) marked(input) else watermarked(input)
      val distinct = source.dropDuplicatesWithinWatermark("value")
      val query = start(
        if (mark) distinct.withE2ELatency("distinct") else distinct,
        "resumed",
        checkpoint = Some(checkpoint)
      )
      try {
        input.addData(ago(at, at))
        processAll(query)
      } finally query.stop()
    }
    run(mark = false, 1)
    run(mark = true, 2)
    assert(Seq("source", "distinct").map(node(_, "resumed").records) === Seq(2, 1))
    run(mark = false, 3)
    run(mark = true, 3)
    assert(Seq("source", "distinct").map(node(_, "resumed").records) === Seq(2, 0))
  }

  test("a batch is one batch, although Spark ends its execution twice") {
    val input = stream
    val query = start(marked(input), "batches")
    try {
      for (ms <- 1L to 3L) {
        input.addData(ago(ms))
        processAll(query)
      }
      assert(queryOf("batches").at("/batches").asInt === 3)
    } finally query.stop()
  }

  test("a query that has the name of all batch queries goes by its id, and leaves those alone") {
    val (input, id) = (stream, freshNode())
    def runOther() =
      run(spark.range(3).select(timestamp_millis(lit(Start - 1)).as("ts")).withE2ELatency(id, "ts"))
    val query = start(marked(input), "__batch__")
    try for (batch <- 1 to 2) {
        input.addData(ago(7))
        processAll(query)
        runOther()
        assert(node("source", query.id.toString).records === batch)
        assert(node(id).records === 3 * batch)
      }
    finally query.stop()
  }

  /** Runs two queries of one name, one of them in the other session, and hands over their names here. Each has two records. */
  private def twins(other: ClassicSession, name: String)(check: Seq[String] => Unit): Unit = {
    val (input, beside) = (stream, MemoryStream[Timestamp](other))
    val first = start(marked(input), name)
    val second = start(marked(beside), name)
    try {
      input.addData(ago(1))
      processAll(first)
      beside.addData(ago(2, 3))
      processAll(second)
      input.addData(ago(4))
      processAll(first)
      check(Seq(name, second.id.toString))
    } finally Seq(first, second).foreach(_.stop())
  }

  test("two sessions may run queries of one name: the second goes by its id") {
    twins(spark.newSession(), "twin")(names => assert(names.map(node("source", _).records) === Seq(2, 2)))
  }

  test("two sessions that share no state may run queries of one name, too, and both tell what they do") {
    twins(Sessions.apart(spark), "twin_apart") { names =>
      assert(names.map(node("source", _).records) === Seq(2, 2))
      for (name <- names) assert(queryOf(name).at("/progress").hasNonNull("activity"), name)
    }
  }

  test("nodes are listed from the source to the sink") {
    val input = stream
    val query =
      start(marked(input).withE2ELatency("b").filter("value is not null").withE2ELatency("a"), "ordered")
    try {
      input.addData(ago(1))
      processAll(query)
      assert(nodesOf("ordered") === Seq("source", "b", "a"))
    } finally query.stop()
  }

  /** How long a reader waits for figures on their way, at the most: as long as it takes if it waits for itself. */
  private val WaitedMs = 1000L

  test("a listener of the user's finds the batch that it is told of, and does not wait for itself") {
    val found = new LinkedBlockingQueue[(Long, Long, Long)] // batch, records, and how long it took
    val listener = new StreamingQueryListener {
      override def onQueryProgress(event: QueryProgressEvent): Unit = {
        val began = System.nanoTime()
        val told = new ObjectMapper().readTree(PythonApi.latencyJson(spark, event.progress.name))
        val records = told.at("/queries/0/nodes/0/records").asLong
        found.put((event.progress.batchId, records, (System.nanoTime() - began) / 1000000))
      }
      override def onQueryStarted(event: QueryStartedEvent): Unit = ()
      override def onQueryTerminated(event: QueryTerminatedEvent): Unit = ()
    }
    val input = stream
    val query = start(marked(input), "listened")
    spark.streams.addListener(listener)
    // On a busy machine any answer may take as long as one that waits for itself, and find less then. But not each of many.
    def quick = found.asScala.toSeq.collect { case (batch, records, ms) if ms < WaitedMs => batch -> records }
    try
      for (batch <- 1 to 20 if batch <= 3 || quick.size < 3) {
        input.addData(ago(5))
        processAll(query)
        assert(found.peek() != null)
      }
    finally {
      spark.streams.removeListener(listener)
      query.stop()
    }
    assert(quick.size >= 3, "each waits for what comes after it")
    for ((batch, records) <- quick) assert(records === batch + 1)
  }
}
