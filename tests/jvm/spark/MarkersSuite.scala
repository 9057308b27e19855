package io.sparklatency.spark

import java.net.InetAddress
import java.net.ServerSocket
import java.net.URI
import java.nio.charset.StandardCharsets
import java.nio.file.Files
import java.nio.file.Path

import scala.jdk.CollectionConverters._
import scala.util.Using

import com.fasterxml.jackson.databind.JsonNode
import io.sparklatency.spark.Lines.LowLatencyMemoryStream
import io.sparklatency.spark.Lines.MemoryStream
import io.sparklatency.spark.Lines.realTime
import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.Encoders
import org.apache.spark.sql.ForeachWriter
import org.apache.spark.sql.Row
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.Plans
import org.apache.spark.sql.streaming.StreamingQuery
import org.scalatest.concurrent.Eventually
import org.scalatest.time.Millis
import org.scalatest.time.Seconds
import org.scalatest.time.Span

/** Latency markers of streaming queries, as a user reads them. */
class MarkersSuite extends StreamingTest with Eventually {
  implicit override val patienceConfig: PatienceConfig =
    PatienceConfig(timeout = Span(60, Seconds), interval = Span(100, Millis))

  private object Drop extends ForeachWriter[Row] {
    override def open(partition: Long, epoch: Long): Boolean = true
    override def process(row: Row): Unit = ()
    override def close(error: Throwable): Unit = ()
  }

  private def written(lines: Int, files: Int): String = {
    val folder = Files.createTempDirectory("lines").toString
    spark.range(
      0,
      lines.toLong,
      1,
      files
    ).select(col("id").cast("string")).write.mode("overwrite").text(folder)
    folder
  }

  private lazy val texts = written(lines = 20, files = 2)
  private lazy val one = written(lines = 1, files = 1)
  private def files: DataFrame = spark.readStream.text(texts)
  private def line: DataFrame = spark.readStream.text(one)
  private def source = s"source-0-file[${Path.of(one).getFileName}]"

  private val on = Seq("spark.sparklatency.markers.interval" -> "1s")
  private val auto = Seq("spark.sparklatency.auto" -> "source,terminal")

  /** Each file is a partition. */
  private val byFile =
    Seq("spark.sql.files.maxPartitionBytes" -> "64", "spark.sql.files.openCostInBytes" -> "0")

  private def all(query: String): JsonNode = latencyOf(query).get("queries").elements.asScala.next()

  /** Of each histogram: how many markers since the start, and the shortest and longest time of the window. */
  private def markers(query: String): Map[String, (Long, Option[Long], Option[Long])] =
    all(query).get("markers").get("of").elements.asScala.map { one =>
      def text(tag: String) = Option(one.get(tag)).filterNot(_.isNull).map(_.asText)
      def figure(name: String) = Option(one.get("latency").get(name)).filterNot(_.isNull).map(_.asLong)
      val place =
        Seq("source_id", "source_subtask_index", "operator_id", "operator_subtask_index").flatMap(text)
      place.mkString(" ") -> ((figure("count").get, figure("min"), figure("max")))
    }.toMap

  private def ran[A](df: DataFrame, mode: String = "append")(read: String => A): A = {
    val name = s"markers_${freshNode()}"
    val query = start(df, name, mode)
    try {
      processAll(query)
      read(name)
    } finally query.stop()
  }

  /** What the UI answers. */
  private def get(path: String): String = {
    val port = URI.create(spark.sparkContext.uiWebUrl.get).getPort
    Using.resource(URI.create(s"http://127.0.0.1:$port/$path").toURL.openStream())(in =>
      new String(in.readAllBytes(), StandardCharsets.UTF_8)
    )
  }

  private def blocking(ms: Long) = slow(ms)(lit(1L))

  test("a query over files without a timestamp has nodes, an answer and markers; a step of 20 ms is in them") {
    withSettings(auto ++ on: _*) {
      ran(line.withColumn("x", blocking(20))) { query =>
        assert(markers(query)(s"$source sink 0") === ((1, Some(20), Some(20))))
        assert(markers(query)(s"$source __commit__") === ((1, Some(20), Some(20))))
        assert(markers(query)(s"$source $source 0")._1 === 1)
        val json = all(query)
        assert(nodesOf(query) === Seq(source, "sink"))
        assert(node("sink", query).long("withoutTimestamp") === Some(1) && node("sink", query).max === None)
        assert(json.get("markers").get("text").asText ===
          s"Latency markers take 20 ms from $source to the commit, on average. A batch carries them every 1 s.")
        val levels = json.get("notes").elements.asScala.map(note =>
          note.get("code").asText -> note.get("level").asText
        )
        assert(levels.toSet.contains("no-timestamp" -> "info"), "a node needs no timestamp here")
        val page = get(s"latency/query/?id=$query")
        assert(page.contains("id=\"latency-markers\"") && page.contains("Latency markers take 20 ms"))
        assert(get("api/v1/latency/prometheus").contains("sparklatency_marker_latency_seconds_count{"))
      }
    }
  }

  test("no kind of source forgets to mark: files, sockets, memory and rates") {
    val server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress)
    def socket =
      spark.readStream.format("socket").option("host", "127.0.0.1").option("port", server.getLocalPort.toLong)
    def rates = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", "10")
    val memory = MemoryStream[Int](spark)(Encoders.scalaInt)
    memory.addData(1)
    val kinds = Seq[(String, () => DataFrame)](
      "file" -> (() => line),
      "text-socket" -> (() => socket.load()),
      "memory" -> (() => memory.toDF()),
      "rate-micro-batch" -> (() => rates.load().select("value"))
    )
    try withSettings(auto ++ on: _*) {
        for ((kind, source) <- kinds) {
          val name = s"markers_of_$kind"
          val query = start(source(), name)
          try {
            if (kind == "text-socket") {
              val line = server.accept().getOutputStream
              line.write("a line\n".getBytes)
              line.flush()
            }
            eventually {
              val found = markers(name).keySet
              assert(
                found.exists(key => key.startsWith(s"source-0-$kind") && key.endsWith(" __commit__")),
                found
              )
            }
          } finally query.stop()
        }
      }
    finally server.close()
  }

  test("the step that takes the time is named, by what operators did") {
    withSettings(auto ++ on ++ byFile: _*)(byTheWall {
      val step = udf { (value: String) => Thread.sleep(20); value }.asNondeterministic()
      val parsed =
        files.withE2ELatency("read").withColumn("value", step(col("value"))).filter(length(col("value")) > 0)
      ran(parsed.withE2ELatency("parsed").filter("value <> 'x'")) { query =>
        val headline = all(query).get("headline")
        assert((headline.get("code").asText, headline.get("node").asText) === (("slowest-step", "parsed")))
        assert(headline.get("text").asText.startsWith("Slowest step: parsed, "))
        assert(all(query).get("slowestStep").asText === "parsed")
      }
    })
  }

  test(
    "each partition of each node has markers, an empty one too, and behind a shuffle those of all sources' partitions"
  ) {
    withSettings(on ++ byFile: _*) {
      val rows =
        files.withE2ELatency("read").filter("value = 'none'").groupBy("value").count().withE2ELatency("end")
      ran(rows, "complete") { query =>
        val found = markers(query)
        val sources = found.keys.filter(_.startsWith("read read ")).size
        assert(sources > 1)
        for (partition <- 0 to 1) assert(found(s"read end $partition")._1 === sources)
        assert(found("read __commit__")._1 === sources)
      }
    }
  }

  test("by source subtask there is a histogram for each pair of partitions, and `single` knows no source") {
    def of(granularity: String) =
      withSettingsRead(on ++ byFile :+ ("spark.sparklatency.markers.granularity" -> granularity)) {
        ran(files.withE2ELatency("read").repartition(2).withE2ELatency("end"))(markers(_).keySet)
      }
    val (single, subtask) = (of("single"), of("subtask"))
    assert(
      single.contains("end 0") && single.contains("__commit__") && !single.exists(_.startsWith("read read"))
    )
    assert(Set(
      "read 0 read 0",
      "read 0 end 0",
      "read 1 end 0",
      "read 1 end 1",
      "read 1 __commit__"
    ).subsetOf(subtask))
  }

  private def withSettingsRead[A](settings: Seq[(String, String)])(read: => A): A = {
    var found = Option.empty[A]
    withSettings(settings: _*) { found = Some(read) }
    found.get
  }

  test(
    "D1: a session's setting is above the application's, in both directions; without one nothing is there"
  ) {
    withSettings(auto: _*) {
      ran(files) { query =>
        assert(nodesOf(query) === Nil)
      }
      ran(files.withIngestionTimestamp("at").withE2ELatency("by hand", "at"))(query =>
        assert(all(query).get("markers").isNull)
      )
      val refused = intercept[IllegalArgumentException](files.withE2ELatency("parsed"))
      assert(refused.getMessage.contains("no timestamp was given"))
    }
    withSettings(auto :+ ("spark.sparklatency.markers.interval" -> "0"): _*) {
      ran(files)(query => assert(nodesOf(query) === Nil))
    }
  }

  test("the interval counts from the batch that carried the last marker, by the clock") {
    withSettings(on: _*) {
      val input = stream
      val query = start(marked(input), "markers_interval")
      try {
        val counts = Seq(0L, 999L, 1L, 500L, 600L).map { ms =>
          clock.advance(ms)
          input.addData(ago(1))
          processAll(query)
          all("markers_interval").get("markers").get("count").asLong
        }
        assert(counts === Seq(counts.head, counts.head, counts.head * 2, counts.head * 2, counts.head * 3))
      } finally query.stop()
    }
  }

  test("gauges have Flink's names, are there as long as the run, forget by time, and go on with a new run") {
    withSettings(on: _*) {
      def of(query: StreamingQuery)(check: => Unit): Unit =
        try check
        finally query.stop()
      def latest = gauges.filter { case (name, _) => name.startsWith("query.markers_gauges.latency.") }
      val gauge =
        "query.markers_gauges.latency.source_id.source.operator_id.source.operator_subtask_index.0.latency"
      for (run <- 1 to 2) {
        val input = stream
        val query = start(marked(input), "markers_gauges")
        of(query) {
          input.addData(ago(1))
          processAll(query)
          assert(latest(s"$gauge-count") === 1L && latest(s"$gauge-max") === 0.0, run)
          clock.advance(60000)
          assert(latest(s"$gauge-max").asInstanceOf[Double].isNaN && latest(s"$gauge-count") === 1L)
        }
        assert(latest.isEmpty)
      }
    }
  }

  test(
    "in real-time mode a second tells how long its rows took, before the first batch has ended, and without a timestamp"
  ) {
    withSettings(on: _*)(byTheWall {
      val input = LowLatencyMemoryStream[Int](spark, 1)(Encoders.scalaInt)
      val step = udf { (_: Int) => Thread.sleep(50); true }.asNondeterministic()
      val found = input.toDF().withE2ELatency("read").filter(step(col("value"))).withE2ELatency("found")
      val query = found.writeStream.queryName("markers_real_time").outputMode("update").foreach(Drop)
        .trigger(realTime("10 minutes")).start()
      try {
        eventually {
          input.addData(1)
          assert(markers("markers_real_time")("read found 0")._2.exists(ms => ms >= 25 && ms <= 500))
        }
        assert(query.lastProgress === null)
      } finally query.stop()
    })
  }

  test("rows and plan are those without markers, where nodes are; no column comes in for them") {
    def of(settings: Seq[(String, String)]) = withSettingsRead(settings) {
      val name = s"markers_${freshNode()}".replace('-', '_') // a table's
      val query = files.select(col("value"), length(col("value")).as("n")).repartition(3, col("n"))
        .writeStream.format("memory").queryName(name).outputMode("append").start()
      try {
        processAll(query)
        (spark.table(name).collect().map(_.toString).sorted.toSeq, Plans.executed(query))
      } finally query.stop()
    }
    val (rows, plan) = of(Nil)
    val (marked, withMarks) = of(auto ++ on)
    assert(rows.size === 20 && marked === rows)
    assert(Plans.marks(withMarks) > 0 && Plans.withoutMarks(withMarks) === Plans.withoutMarks(plan))
  }

  test("the id of the commit is no node's") {
    val refused = intercept[IllegalArgumentException](stream.toDF().withE2ELatency("__commit__", "value"))
    assert(refused.getMessage.contains("__commit__"))
  }
}
