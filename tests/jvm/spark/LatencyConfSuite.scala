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
      "spark.sparklatency.auto" -> "Source, stateful",
      "spark.sparklatency.auto.batch" -> "True",
      "spark.sparklatency.granularity" -> "SINGLE",
      "spark.sparklatency.nodes.max" -> "7"
    )
    assert((set.auto, set.autoBatch, set.figures.granularity, set.figures.maxNodes) ===
      ((Set(NodeRole.Source, NodeRole.Stateful), true, Granularity.Single, 7)))
    assert((set.recordingLevel, set.figures.window) === ((RecordingLevel.Debug, WindowSettings(6, 10000))))
  }

  test("what is not allowed fails with the key, the value and what is") {
    for (
      (key, value) <- Seq(
        "recording.level" -> "x",
        "num.samples" -> "0",
        "num.samples" -> "two",
        "sample.window" -> "0s",
        "sample.window" -> "soon",
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
}
