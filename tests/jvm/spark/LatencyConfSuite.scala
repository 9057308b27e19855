package io.sparklatency.spark

import io.sparklatency.figures.Granularity
import io.sparklatency.figures.WindowSettings
import io.sparklatency.recording.RecordingLevel
import io.sparklatency.spark.base.LatencyConf
import io.sparklatency.spark.base.NodeRole
import org.apache.spark.SparkConf
import org.scalatest.funsuite.AnyFunSuite

class LatencyConfSuite extends AnyFunSuite {

  private def conf(settings: (String, String)*): LatencyConf =
    LatencyConf(new SparkConf(false).setAll(settings))

  test("without settings: INFO, no automatic nodes, and Kafka's two samples of thirty seconds") {
    assert(conf().recordingLevel === RecordingLevel.Info)
    assert(conf().figures.window === WindowSettings(2, 30000))
    assert((conf().auto, conf().autoBatch) === ((Set(), false)))
  }

  test("settings are read with their units") {
    val set = conf(
      "spark.sparklatency.recording.level" -> "debug",
      "spark.sparklatency.num.samples" -> "6",
      "spark.sparklatency.sample.window" -> "10s",
      "spark.sparklatency.watermark.interval" -> "1 minute 2 seconds",
      "spark.sparklatency.auto" -> "Source, stateful",
      "spark.sparklatency.auto.batch" -> "True",
      "spark.sparklatency.granularity" -> "SINGLE",
      "spark.sparklatency.nodes.max" -> "7"
    )
    assert((set.auto, set.autoBatch, set.figures.granularity, set.figures.maxNodes) ===
      ((Set(NodeRole.Source, NodeRole.Stateful), true, Granularity.Single, 7)))
    assert(set.watermarkInterval === 62000)
    assert((set.recordingLevel, set.figures.window) === ((RecordingLevel.Debug, WindowSettings(6, 10000))))
  }

  test("a space before or behind a value changes nothing") {
    val set = LatencyConf.documented.filter(_.default.nonEmpty)
      .map(key => key.name.replace("<query>", "orders") -> s" ${key.default} ")
    conf(set :+ "spark.sparklatency.recording.level.orders" -> " trace ": _*).validate()
    assert(conf("spark.sparklatency.recording.level" -> "debug ").recordingLevel === RecordingLevel.Debug)
  }

  test("what is not allowed fails with the key, the value and what is") {
    for (
      (key, value) <- Seq(
        "recording.level" -> "x",
        "num.samples" -> "0",
        "num.samples" -> "two",
        "sample.window" -> "0s",
        "sample.window" -> "soon",
        "sample.window" -> "1 month",
        "auto" -> "sources",
        "auto.batch" -> "yes",
        "granularity" -> "task",
        "nodes.max" -> "0"
      )
    ) {
      val error = intercept[IllegalArgumentException](conf(s"spark.sparklatency.$key" -> value).validate())
      assert(error.getMessage.startsWith(s"spark.sparklatency.$key=$value is not valid: "))
    }
  }

  test("a duration of more than a year is refused: in nanoseconds it might be negative") {
    val keys = Seq(
      "publish.after",
      "clock.interval",
      "watermark.interval",
      "watermark.idle.timeout",
      "markers.interval",
      "sample.window"
    )
    for (key <- keys.map("spark.sparklatency." + _)) {
      conf(key -> "366d").validate()
      for (value <- Seq("367d", "10000000d", "400 days")) {
        val error = intercept[IllegalArgumentException](conf(key -> value).validate())
        assert(error.getMessage.startsWith(s"$key=$value is not valid: a duration from 1ms to 366d such as "))
      }
    }
  }

  test("a duration of less than a millisecond is none, and not taken for 0") {
    for (key <- Seq("markers.interval", "clock.interval", "watermark.idle.timeout", "watermark.interval")) {
      val error = intercept[IllegalArgumentException](conf(s"spark.sparklatency.$key" -> "999us").validate())
      assert(error.getMessage.startsWith(s"spark.sparklatency.$key=999us is not valid: a duration "))
      assert(error.getMessage.contains("1ms"))
    }
    def interval(value: String) = conf("spark.sparklatency.markers.interval" -> value).markers.intervalMs
    assert(Seq("0", "0s", "0us", "00").map(interval) === Seq.fill(4)(None))
    assert(Seq("1ms", "1000us", "1", "1s").map(interval) === Seq(1L, 1L, 1L, 1000L).map(Some(_)))
  }

  test("a query has the level of its own name, else that of all") {
    val set = conf(
      "spark.sparklatency.recording.level" -> "DEBUG",
      "spark.sparklatency.recording.level.orders" -> "none",
      "spark.sparklatency.recording.level.a.b c" -> "TRACE"
    )
    set.validate()
    assert(Seq("orders", "a.b c", "a", "order").map(set.levelOf) ===
      Seq(Some(RecordingLevel.None), Some(RecordingLevel.Trace), None, None))
    assert(set.recordingLevel === RecordingLevel.Debug)
    assert(set.levelsOfQueries.toSet === Set(RecordingLevel.None, RecordingLevel.Trace))
  }

  test("a level of a query that does not exist fails with the key, the value and what is allowed") {
    val key = "spark.sparklatency.recording.level.orders"
    for (read <- Seq[LatencyConf => Any](_.validate(), _.levelOf("orders"), _.levelsOfQueries))
      assert(intercept[IllegalArgumentException](read(conf(key -> "LOUD"))).getMessage ===
        s"$key=LOUD is not valid: NONE, INFO, DEBUG, TRACE is allowed")
  }

  test("a level of a query is no unknown setting") {
    val prefix = "spark.sparklatency.recording.level"
    val log = Logged.during {
      LatencyConf.warnOfUnknownKeys(
        new SparkConf(false).set(
          s"$prefix.orders",
          "INFO"
        ).set(s"$prefix.", "INFO").set(s"${prefix}s", "INFO")
      )
    }
    val unknown = log.filter(_.contains("is not a setting of sparklatency"))
    assert(unknown.map(_.takeWhile(_ != ' ')).toSet === Set(s"$prefix.", s"${prefix}s"))
    assert(unknown.forall(_.contains(s"$prefix.<query>")))
  }

  test("what is said of a key and a value is short, however long they are") {
    val long = "x" * 1000000
    for (key <- Seq("recording.level", s"recording.level.$long")) {
      val error =
        intercept[IllegalArgumentException](conf(s"spark.sparklatency.$key" -> long).validate())
      assert(
        error.getMessage.length < 600 && error.getMessage.contains("NONE, INFO, DEBUG, TRACE is allowed")
      )
    }
    val log =
      Logged.during(LatencyConf.warnOfUnknownKeys(new SparkConf(false).set(s"spark.sparklatency.$long", "")))
    assert(log.exists(_.contains("xxx…")) && log.forall(_.length < 2000))
  }
}
