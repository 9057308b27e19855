package io.sparklatency.spark

import com.fasterxml.jackson.databind.JsonNode
import io.sparklatency.spark.Lines.MemoryStream
import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.Row
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.functions.window

/** The watermark of each source, on every surface. */
class WatermarkSurfacesSuite extends IdleSourcesTest with Ui {
  private type Stream = MemoryStream[java.sql.Timestamp]

  private def query(it: Running): JsonNode = queryOf(it.query.name)

  private def inRest(it: Running): Seq[JsonNode] = {
    val shown = query(it).get("lastBatch").get("watermarks")
    (0 until shown.size).map(shown.get(_))
  }

  private def inSql(it: Running): Seq[Row] = {
    latencyOf(it.query.name)
    spark.sql(s"SELECT watermarks FROM e2e_latency() WHERE query = '${it.query.name}'").head().getSeq[Row](0)
  }

  private def inJmx(it: Running, column: String, metric: String, kind: String = "event-time"): Any =
    gauges(
      s"query.${it.query.name}.watermark.source.memory.column.$column.kind.$kind.source-watermark-$metric"
    )

  private def inPrometheus(it: Running): Map[String, Double] =
    fetched("/api/v1/latency/prometheus").linesIterator
      .filter(line => line.contains("source_watermark") && line.contains(s""""${it.query.name}""""))
      .map(_.replaceAll("app=[^,]*,|query=[^,]*,|sparklatency_source_watermark_", "").split(' '))
      .map(line => line(0) -> line(1).toDouble).toMap

  /** The first column has a lag, the second is idle since 5 s when the clock shows 65 s. */
  private def withIdle(body: Running => Unit): Unit = {
    val (a, b) = (stream, stream)
    def ordinary(input: Stream, name: String): DataFrame =
      input.toDF().withColumnRenamed("value", name).withWatermark(name, "10 seconds")
    val df = ordinary(a, "spoken").withE2ELatency("source").union(ordinary(b, "silent"))
    running(windows(df.withColumnRenamed("spoken", "value"))) { it =>
      it.reads(a, 1, 25)
      it.comesTo(5)
      it.reads(b, 3)
      waits(it, 65)
      it.reads(a, 45)
      body(it)
    }
  }

  test("REST, SQL, JMX, Prometheus and the tab show since when a source is idle, and who holds back instead") {
    withIdle { it =>
      clock.advance(2500)
      assert(inRest(it).map(_.get("holdsBack").asBoolean) === Seq(true, false))
      assert(inRest(it).head.get("idleSince").isNull)
      assert(inRest(it)(1).get("idleSince").asLong === Start + 5000)
      assert(inSql(it) === Seq(
        Row("memory", "spoken", "event-time", 10000L, Start + 35000, 32500L, null, true),
        Row("memory", "silent", "event-time", 10000L, Start - 7000, 74500L, 62500L, false)
      ))
      assert(Seq("lag", "idle", "holds-back").map(inJmx(it, "silent", _)) === Seq(74500.0, 62500.0, 0.0))
      assert(Seq("lag", "holds-back").map(inJmx(it, "spoken", _)) === Seq(32500.0, 1.0))
      assert(inJmx(it, "spoken", "idle").asInstanceOf[Double].isNaN)
      def labels(column: String) = s"""{column="$column",kind="event-time",source="memory"}"""
      assert(inPrometheus(it) === Map(
        s"lag_seconds${labels("spoken")}" -> 32.5,
        s"lag_seconds${labels("silent")}" -> 74.5,
        s"idle_seconds${labels("silent")}" -> 62.5,
        s"holds_back${labels("spoken")}" -> 1.0,
        s"holds_back${labels("silent")}" -> 0.0
      ))
      assert(fetched(s"/latency/query/?id=${it.query.runId}").contains("event-time, idle since 1970"))
    }
  }

  test(
    "a source that was idle and speaks of old events holds nobody back further than the query's watermark is"
  ) {
    val (a, b) = (stream, stream)
    val df = ordinary(a.toDF()).withE2ELatency("source").union(ordinary(b.toDF()))
    running(windows(df)) { it =>
      b.addData(at(3))
      it.reads(a, 1, 25)
      waits(it, 60)
      it.reads(a, 200)
      assert(it.watermark === 190.0)
      clock.set(Start + 201000)
      b.addData(at(4))
      it.reads(a, 201)
      assert(it.watermark === 190.0)
      assert(inRest(it).map(_.get("watermark").asLong - Start) === Seq(191000, 190000))
      assert(inRest(it).map(_.get("holdsBack").asBoolean) === Seq(false, true))
      assert(!query(it).get("notes").findValuesAsText("code").contains("silent-source"))
    }
  }

  test("an old record is as old as it is at its source, and its watermark is behind by the delay more") {
    val (input, day) = (stream, 86400)
    val later = input.toDF().filter(s"value > timestamp_millis($Start)")
    running(windows(later.withWatermark("value", "1 day").withE2ELatency("source"))) { it =>
      def oldest = gauges(s"query.${it.query.name}.node.source.record-e2e-latency-max").asInstanceOf[Double]
      def lag = inJmx(it, "value", "lag").asInstanceOf[Double]
      it.reads(input, 0)
      assert(lag.isNaN, "it has not spoken")
      it.comesTo(102 * day)
      it.reads(input, 2 * day)
      assert(oldest === 100 * day * 1000.0)
      assert(lag === 101 * day * 1000.0)
    }
  }

  test("a gauge of a watermark goes when its query stops") {
    def shown = gauges.keys.filter(_.contains("source-watermark")).toSeq
    val before = shown
    withIdle(it => assert(shown.count(_.contains(it.query.name)) === 6))
    assert(shown === before)
  }

  test("surfaces show a system-time watermark's kind, its lag, and where it stands by the clock") {
    val input = stream
    running(windows(lagging(input).withE2ELatency("source"))) { it =>
      latencyOf(null)
      assert(query(it).get("lastBatch").isNull)
      assert(query(it).get("progress").get("watermarkLag").isNull)
      assert(query(it).get("watermarkText").asText ===
        "No batch with a marked node has told of a watermark yet.")
      assert(inSql(it) === Nil)
      it.reads(input, -3)
      it.comesTo(7)
      val Seq(shown) = inRest(it): @unchecked
      assert(shown.get("kind").asText === "system-time")
      assert(shown.get("delay").asLong === 10000)
      assert(shown.get("watermark").asLong === Start - 3000)
      assert(shown.get("lag").asLong === 10000)
      assert(shown.get("holdsBack").asBoolean)
      assert(inSql(it) ===
        Seq(Row("memory", "value", "system-time", 10000L, Start - 3000, 10000L, null, true)))
      assert(inJmx(it, "value", "lag", "system-time") === 10000.0)
    }
  }

  /** What is said of a query when one of its sources has been silent for a while, by what it does with the records. */
  private def ofSilence(shape: DataFrame => DataFrame)(body: JsonNode => Unit): Unit = {
    val (a, b) = (stream, stream)
    withSettings(setting -> "0") {
      val df = ordinary(a.toDF()).withE2ELatency("source").union(ordinary(b.toDF()))
      running(shape(df)) { it =>
        b.addData(at(1))
        it.reads(a, 1, 12)
        assert(!query(it).get("notes").findValuesAsText("code").contains("silent-source"))
        it.comesTo(100)
        it.reads(a, 90)
        body(query(it))
      }
    }
  }

  test("a query with figures that then waits for a silent source is told the source and the remedy") {
    ofSilence(windows)(query =>
      assert(query.get("notes").toString.contains(
        "memory holds the watermark back: 1.8 min behind the clock, with a delay of 10 s. " +
          "A system-time watermark on it moves on while memory is silent; an idle timeout lets the others go on."
      ))
    )
  }

  test("where nothing comes out because a source has fallen silent, that is the headline, on every surface") {
    val (a, b) = (stream, stream)
    withSettings(setting -> "0") {
      val df = ordinary(a.toDF()).withE2ELatency("source").union(ordinary(b.toDF()))
      val closed = df.groupBy(window(col("value"), "10 seconds")).count().withE2ELatency("closed", "window")
      running(closed.select(seconds("window.end"), col("count"))) { it =>
        def headline = query(it).get("headline")
        it.comesTo(30)
        b.addData(at(30))
        it.reads(a, 1, 30)
        assert(it.rows === Seq(Seq(10.0, 1)))
        it.comesTo(85)
        it.reads(a, 85)
        assert(headline.get("code").asText !== "silent-source", "within the window")
        // Both are as far as they should be, and the window closes late.
        it.comesTo(125)
        it.reads(a, 124)
        val said = "memory holds the watermark back: 1.8 min behind the clock, with a delay of 10 s. " +
          "A system-time watermark on it moves on while memory is silent; an idle timeout lets the others go on."
        assert((headline.get("code").asText, headline.get("text").asText) === (("silent-source", said)))
        assert(query(it).get("slowestStep").isNull)
        assert(
          spark.sql(s"SELECT DISTINCT cause, headline FROM e2e_latency() WHERE query = '${it.query.name}'")
            .collect() === Array(Row("silent-source", said))
        )
        val page = fetched(s"/latency/query/?id=${it.query.runId}")
        assert(page.split(java.util.regex.Pattern.quote(said), -1).length === 2, "once")
        // It speaks again.
        b.addData(at(120))
        it.reads(a, 125)
        assert(it.rows.map(_.head).toSet === Set(10.0, 40.0, 90.0))
        assert(headline.get("code").asText !== "silent-source")
      }
    }
  }

  test(
    "no silence is told where nothing goes by the watermark, and no source is blamed where a filter drops all"
  ) {
    ofSilence(_.filter("value > timestamp '2100-01-01'").withE2ELatency("sink", "value")) { query =>
      assert(query.get("notes").findValuesAsText("code").contains("silent-source") === false)
      assert(query.get("headline").get("text").asText ===
        "No record with a timestamp has reached the end of the query yet.")
      assert(query.get("lastBatch").get("watermarks").size === 2)
    }
  }
}
