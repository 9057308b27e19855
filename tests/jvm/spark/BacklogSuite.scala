package io.sparklatency.spark

import java.nio.file.Files
import java.sql.Timestamp
import java.time.Instant
import java.util.concurrent.LinkedBlockingQueue

import scala.jdk.CollectionConverters._
import scala.reflect.ClassTag

import com.fasterxml.jackson.databind.JsonNode
import io.sparklatency.answer.Parts
import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.connector.read.streaming.ReadLimit
import org.apache.spark.sql.functions.lit
import org.apache.spark.sql.latency.ScannedSource
import org.apache.spark.sql.latency.TemporaryFolder
import org.apache.spark.sql.streaming.StreamingQuery
import org.apache.spark.sql.streaming.Trigger
import org.scalactic.Tolerance._

/** Which records a limit left behind, of a query that reads a file a batch. By the clock on the wall, as Spark's progress is. */
class BacklogSuite extends StreamingTest with Patient {

  /**
   * What is told when the last of some files was read, which were last changed at these times, where more come while the first of them
   * is read.
   */
  private def told(name: String, options: (String, String)*)(changedMs: Long*)(come: Long*): JsonNode = {
    val (folder, now) = (TemporaryFolder(name), System.currentTimeMillis)
    def write(changed: Seq[Long]): Unit = changed.foreach { ms =>
      val file = folder.resolve(s"$ms.json")
      Files.writeString(file, s"""{"at": ${now - 60000}}""")
      assert(file.toFile.setLastModified(ms))
    }
    write(changedMs)
    val read =
      spark.readStream.schema("at LONG").option(
        "maxFilesPerTrigger",
        1
      ).options(options.toMap).json(folder.toString)
    val marked = read.selectExpr("timestamp_millis(at) AS ts").withE2ELatency("source", "ts")
    val query = marked.writeStream.queryName(name).foreachBatch { (batch: DataFrame, number: Long) =>
      if (number == 0) write(come)
      drop(batch)
    }.start()
    try {
      processAll(query)
      val told = queryOf(name)
      assertGauged(name, partsOf(told))
      told
    } finally query.stop()
  }

  /** The parts of the age of the records in the last file. */
  private def partsOf(told: JsonNode): Seq[JsonNode] = told.get("parts").get("of").elements.asScala.toSeq

  /** Gauges are whole milliseconds, and add up the same part at several nodes. */
  private def assertGauged(query: String, parts: Seq[JsonNode]): Unit =
    for (metric <- Parts.metrics) {
      val ms = parts.filter(_.get("code").asText == metric.field).map(_.get("ms").asDouble).sum
      val gauge = gauges(s"query.$query.${metric.name}").asInstanceOf[Double]
      if (Seq("queuing", "processing").exists(metric.field.contains)) assert(gauge.isNaN, metric.name)
      else assert(gauge === ms +- 0.6, metric.name)
    }

  private def codes(told: JsonNode): Seq[String] = partsOf(told).map(_.get("code").asText)

  test("a file that came after the batch before had looked was not left behind") {
    byTheWall {
      val now = System.currentTimeMillis
      val later = codes(told("came_later")(now - 20000, now - 10000, now + 3600000)())
      assert(later.contains("arrived-old") && !later.contains("backlog"), later)
    }
  }

  test("what another source brings when all files are read was not left behind") {
    byTheWall {
      val (folder, others, old) = (TemporaryFolder("beside"), stream, System.currentTimeMillis - 60000)
      for (file <- 1 to 3) Files.writeString(folder.resolve(s"$file.json"), s"""{"at": $old}""")
      val read = spark.readStream.schema("at LONG").option("maxFilesPerTrigger", 1).json(folder.toString)
        .selectExpr("timestamp_millis(at) AS ts")
      val both = read.union(others.toDF().selectExpr("value AS ts")).withE2ELatency("source", "ts")
      val query = both.writeStream.queryName("beside").trigger(Trigger.ProcessingTime("1 second"))
        .foreachBatch { (batch: DataFrame, number: Long) =>
          drop(batch)
          if (number == 2) { others.addData(new Timestamp(old)); () }
        }.start()
      try {
        eventually(assert(Option(query.lastProgress).exists(_.batchId >= 3)))
        processAll(query)
        val told = queryOf("beside")
        assert(!codes(told).contains("backlog"), told.get("parts"))
      } finally query.stop()
    }
  }

  test("where new files are read first, older ones were left behind since the limit first cut") {
    byTheWall {
      val now = System.currentTimeMillis
      val left = codes(told("came_first", "latestFirst" -> "true")(now - 20000, now - 10000)(now + 3600000))
      assert(left.contains("backlog"), left)
    }
  }

  test(
    "what a limit has left since the first batch may have waited for the run, and nobody has written it late"
  ) {
    byTheWall {
      val now = System.currentTimeMillis
      val last = told("before_the_run")(now - 30000, now - 20000, now - 10000)()
      assert(
        last.get("headline").get("text").asText.matches(
          "Records are older than the run: .*, by ts\\. maxFilesPerTrigger has left some behind since its first batch, so .*"
        ),
        last.get("headline")
      )
    }
  }

  test("what a window gives out in a later batch than the first may have waited for the run, too") {
    byTheWall {
      val (events, now) = (stream, System.currentTimeMillis)
      events.addData(Seq(600000, 330000).map(ms => new Timestamp(now - ms)))
      val windows = newestOfEachSecond(marked(events)).withE2ELatency("sink", "last")
      def said = queryOf("old_windows").get("headline").get("text").asText
      val query = start(windows, "old_windows")
      try {
        processAll(query)
        assert(said.matches(
          "Records are older than the run: .*, by last\\. They came in with its first batches, so they may have waited for the run .*"
        ))
        events.addData(new Timestamp(System.currentTimeMillis - 300000))
        processAll(query)
        assert(said.startsWith("Records arrive old: "), "these were not there when the run began")
      } finally query.stop()
    }
  }

  test("what a run reads after it has done again what the one before had begun may have waited for it, too") {
    byTheWall {
      val (events, checkpoint) = (stream, TemporaryFolder("again").toString)
      def add(ms: Long): Unit = { events.addData(new Timestamp(System.currentTimeMillis - ms)); () }
      def run(fails: Boolean): StreamingQuery = marked(events).writeStream.queryName("again")
        .option("checkpointLocation", checkpoint)
        .foreachBatch { (batch: DataFrame, _: Long) =>
          drop(batch)
          assert(!fails)
          ()
        }.start()
      def said = queryOf("again").get("headline").get("text").asText
      add(600000)
      failure(run(fails = true))
      add(300000)
      val query = run(fails = false)
      try {
        processAll(query)
        assert(said.matches(
          "Records are older than the run: .*, by value\\. They came in with its first batches, so they may have waited for the run .*"
        ))
        add(300000)
        processAll(query)
        assert(said.startsWith("Records arrive old: "), "these were not there when the run began")
      } finally query.stop()
    }
  }

  test("what comes when a run has found nothing did not wait for it to begin") {
    byTheWall {
      val (events, checkpoint) = (stream, Some(TemporaryFolder("found").toString))
      def run(): StreamingQuery = start(marked(events), "found_nothing", checkpoint = checkpoint)
      def add(ms: Long): Unit = { events.addData(new Timestamp(System.currentTimeMillis - ms)); () }
      add(600000)
      val first = run()
      processAll(first)
      first.stop()
      val query = withSettings("spark.sql.streaming.noDataProgressEventInterval" -> "0")(run())
      try {
        (1 to 2).foreach(_ => processAll(query))
        add(300000)
        processAll(query)
        val said = queryOf("found_nothing").get("headline").get("text").asText
        assert(said.startsWith("Records arrive old: "), said)
      } finally query.stop()
    }
  }

  test("one folder may be read twice, and with a limit once") {
    byTheWall {
      val (folder, written) = (TemporaryFolder("twice"), System.currentTimeMillis - 60000)
      for (file <- 1 to 3) Files.writeString(folder.resolve(s"$file.json"), s"""{"at": $written}""")
      def read(node: String, options: (String, String)*): DataFrame =
        spark.readStream.schema("at LONG").options(options.toMap).json(folder.toString)
          .selectExpr("timestamp_millis(at) AS ts").withE2ELatency(node, "ts")
      val both = read("limited", "maxFilesPerTrigger" -> "1").union(read("all"))
      // Files do not say that more are left. With an interval no trigger has found nothing in between, however busy this machine is.
      val query =
        both.writeStream.queryName("twice").trigger(Trigger.ProcessingTime("1 second")).format("noop").start()
      try {
        processAll(query)
        val said = queryOf("twice").get("headline").get("text").asText
        assert(said.contains("maxFilesPerTrigger has left some behind"), said)
      } finally query.stop()
    }
  }

  for ((how, options) <- Seq("alone" -> Nil, "with_others" -> Seq("several" -> "true")))
    test(s"so it is told where a source has a limit by bytes of its own, as Delta has, $how") {
      byTheWall {
        val folder = TemporaryFolder("own")
        val event = lit(new Timestamp(System.currentTimeMillis - 60000)).as("written")
        for (version <- 0 to 2)
          spark.range(0, 1, 1, 1).select(event).write.parquet(folder.resolve(version.toString).toString)
        val read = spark.readStream.format(classOf[ScannedSource].getName).option("maxBytes", "10").options(
          options.toMap
        ).load(folder.toString)
        val query = start(read.withE2ELatency("source", "value"), s"own_limit_$how")
        try {
          processAll(query)
          val told = queryOf(s"own_limit_$how")
          assert(codes(told).contains("backlog"), told.get("parts"))
          assert(told.get("headline").get("text").asText.contains("maxBytesPerTrigger"), told.get("headline"))
        } finally query.stop()
      }
    }

  private def hesitant: DataFrame =
    spark.readStream.format(classOf[HesitantSource].getName).load().withE2ELatency("source", "value")

  /**
   * Lets a record wait until there is another. Of two that are read then one has waited for that.
   *
   * @param left      brings the record
   * @param meanwhile what else happens when it has waited for long
   */
  private def keptUntilMore(df: DataFrame, name: String)(left: StreamingQuery => Unit)(
      meanwhile: StreamingQuery => Unit
  ): Unit = byTheWall {
    (1 to 2).foreach(_ => HesitantSource.add())
    val query = start(df, name)
    try {
      processAll(query)
      left(query)
      looksInVain(200)
      meanwhile(query)
      // Spark may take a second for what it does after a batch. For so long no trigger that found nothing is known.
      looksInVain(120)
      val inVain = HesitantSource.lastInVain
      HesitantSource.add()
      processAll(query)
      val told = queryOf(name)
      val parts = partsOf(told).map(part => part.get("code").asText -> part.get("ms").asDouble).toMap
      // Bounds that hold however long a look takes: the limit kept a record for as long as Spark looked in vain, and no longer
      // than until it looked again.
      val last = query.recentProgress.filter(_.numInputRows > 0).last
      val (began, looked) =
        (Instant.parse(last.timestamp).toEpochMilli, last.durationMs.get("latestOffset").toLong)
      val came = HesitantSource.lastTwo
      val (least, most) = (
        (inVain - looked - came.min) / 2.0,
        came.map(at => (began - at).max(0)).sum / 2.0
      )
      val error = 2 + most / 100 // of what is known of a histogram
      assert(parts("backlog") > least - error && parts("backlog") < most + error, s"$least to $most: $parts")
      assert(parts.getOrElse("waited-for-the-trigger", 0.0) < 10 + looked + error, s"$looked: $parts")
      assert(parts.getOrElse("arrived-old", 0.0) < error, parts)
      assert(told.get("headline").get("text").asText.contains("minOffsetsPerTrigger"), told.get("headline"))
    } finally query.stop()
  }

  /** Waits until Spark has asked so often, each time for nothing. It does so a hundred times in a second at the most. */
  private def looksInVain(times: Int): Unit = {
    val before = HesitantSource.looks.get
    eventually(assert(HesitantSource.looks.get > before + times))
    ()
  }

  test("what a source keeps until there is more of it waits in the backlog, and did not arrive old") {
    keptUntilMore(hesitant, "hesitant")(_ => HesitantSource.add())(_ => ())
  }

  test("so it does where a limit has left too few, and does not wait for the trigger") {
    HesitantSource.most = 2
    try keptUntilMore(hesitant, "hesitant_with_most") { query =>
        (1 to 3).foreach(_ => HesitantSource.add())
        processAll(query)
      }(_ => ())
    finally HesitantSource.most = Long.MaxValue
  }

  test("so it does while batches read other sources") {
    val others = stream
    def another(query: StreamingQuery): Unit = {
      others.addData(new Timestamp(System.currentTimeMillis))
      processAll(query)
    }
    keptUntilMore(hesitant.union(others.toDF().withE2ELatency("others", "value")), "hesitant_beside") {
      query =>
        HesitantSource.add()
        another(query)
    }(another)
  }

  /** What the headline says when the last batch of a stream of Iceberg has been read that starts late, and how its node is called. */
  private def toldOfIceberg(name: String, limit: ReadLimit): (String, String) =
    toldOfTable[FrozenSource](name, limit)

  private def toldOfTable[A](name: String, limit: ReadLimit)(implicit
      table: ClassTag[A]
  ): (String, String) = {
    FrozenSource.limit = limit
    val read = spark.readStream.format(table.runtimeClass.getName).load().withWatermark("value", "1 hour")
    val query = withSettings("spark.sparklatency.auto" -> "source") {
      read.writeStream.queryName(name).trigger(Trigger.ProcessingTime("1 second")).format("noop").start()
    }
    try {
      processAll(query)
      val told = queryOf(name)
      (told.get("headline").get("text").asText, told.get("nodes").get(0).get("node").asText)
    } finally query.stop()
  }

  test("Iceberg leaves files behind where a batch reads as many as it may, and never says so") {
    byTheWall {
      val (headline, node) = toldOfIceberg("of_files", ReadLimit.maxFiles(2))
      assert(headline.contains("streaming-max-files-per-micro-batch "), headline)
      assert(node == "source-0-iceberg[local.db.frozen]")
    }
  }

  test("Iceberg leaves rows behind where a batch has read as many as it may, or a few more") {
    byTheWall {
      val several = ReadLimit.compositeLimit(Array(ReadLimit.maxFiles(1000), ReadLimit.maxRows(3)))
      val (headline, _) = toldOfIceberg("of_rows", several)
      assert(headline.contains("streaming-max-rows-per-micro-batch "), headline)
    }
  }

  test("Iceberg leaves nothing behind where it reads all that there is") {
    byTheWall {
      val (headline, _) = toldOfIceberg("of_all", ReadLimit.maxFiles(1000))
      assert(!headline.contains("micro-batch"), headline)
    }
  }

  for (
    (limit, option) <- Seq(
      ReadLimit.maxFiles(2) -> "read.stream.maxFilesPerTrigger",
      ReadLimit.maxRows(3) -> "read.stream.maxRowsPerTrigger",
      FrozenSource.ReadMaxBytes(150) -> "read.stream.maxBytesPerTrigger"
    )
  ) test(s"Paimon leaves some behind where a batch reads as much as $option lets it, and never says so") {
    byTheWall {
      val (headline, node) = toldOfTable[PaimonSource](option, ReadLimit.compositeLimit(Array(limit)))
      assert(headline.contains(s"$option "), headline)
      assert(node == "source-0-paimon")
    }
  }

  test("nobody but the query's own thread asks a source anything, which may answer one question at a time") {
    val asking = new LinkedBlockingQueue[String]
    HesitantSource.asked = () => asking.put(Thread.currentThread.getName)
    val events = spark.readStream.format(classOf[HesitantSource].getName).load()
    def add(): Unit = (1 to 2).foreach(_ => HesitantSource.add())
    add()
    val query = start(events.withE2ELatency("source", "value"), "asked")
    try {
      processAll(query)
      add()
      processAll(query)
      assert(queryOf("asked").get("batches").asInt === 2)
      val own = s"stream execution thread for asked [id = ${query.id}, runId = ${query.runId}]"
      assert(asking.asScala.toSet === Set(own))
    } finally {
      HesitantSource.asked = () => ()
      query.stop()
    }
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
