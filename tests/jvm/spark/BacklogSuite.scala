package io.sparklatency.spark

import java.nio.file.Files
import java.sql.Timestamp
import java.util.concurrent.LinkedBlockingQueue

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import io.sparklatency.answer.Parts
import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.latency.TemporaryFolder
import org.apache.spark.sql.streaming.Trigger
import org.scalactic.Tolerance._

/** Which records a limit left behind, of a query that reads a file a batch. */
class BacklogSuite extends BacklogTest {

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
    // Files do not say that more are left. With an interval no trigger has found nothing in between, however busy this machine is.
    val query = marked.writeStream.queryName(name).trigger(Trigger.ProcessingTime("1 second"))
      .foreachBatch { (batch: DataFrame, number: Long) =>
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

  /** Gauges are whole milliseconds, and add up the same part at several nodes. */
  private def assertGauged(query: String, parts: Seq[JsonNode]): Unit =
    for (metric <- Parts.metrics) {
      val ms = parts.filter(_.get("code").asText == metric.field).map(_.get("ms").asDouble).sum
      val gauge = gauges(s"query.$query.${metric.name}").asInstanceOf[Double]
      if (Seq("queuing", "processing").exists(metric.field.contains)) assert(gauge.isNaN, metric.name)
      else assert(gauge === ms +- 0.6, metric.name)
    }

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
      val last = told("came_first", "latestFirst" -> "true")(now - 20000, now - 10000)(now + 3600000)
      assert(codes(last).contains("backlog"), last)
      val said = last.get("headline").get("text").asText
      assert(said.contains("maxFilesPerTrigger has left some behind since its first batch"), said)
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

  test("files of another source do not fill the limit of one") {
    byTheWall {
      val now = System.currentTimeMillis
      val folders = Seq("few", "many").map(name => name -> TemporaryFolder(name)).toMap
      def write(name: String, files: Int*): Unit = files.foreach { number =>
        val file = folders(name).resolve(s"$number.json")
        Files.writeString(file, s"""{"at": ${now - 60000}}""")
        assert(file.toFile.setLastModified(now - 20000)) // as of one that was moved here
      }
      def read(name: String, options: (String, String)*): DataFrame =
        spark.readStream.schema("at LONG").options(options.toMap).json(folders(name).toString)
          .selectExpr("timestamp_millis(at) AS ts").withE2ELatency(name, "ts")
      write("few", 1)
      write("many", 1, 2, 3)
      val both = read("few", "maxFilesPerTrigger" -> "2").union(read("many"))
      // More comes while the first is read: a trigger that finds nothing would show that nothing was left.
      val query = both.writeStream.queryName("beside_many").trigger(Trigger.ProcessingTime("1 second"))
        .foreachBatch { (batch: DataFrame, number: Long) =>
          if (number == 0) {
            write("few", 2)
            write("many", 4, 5, 6)
          }
          drop(batch)
        }.start()
      try {
        processAll(query)
        val told = queryOf("beside_many")
        assert(told.get("batches").asInt === 2)
        assert(!codes(told).contains("backlog") && codes(told).contains("arrived-old"), told)
        assert(!told.get("headline").get("text").asText.contains("maxFilesPerTrigger"), told)
      } finally query.stop()
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
}
