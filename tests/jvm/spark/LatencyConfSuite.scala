package io.sparklatency.spark

import io.sparklatency.RecordingLevel
import io.sparklatency.WindowSettings
import org.apache.spark.SparkConf
import org.scalatest.funsuite.AnyFunSuite

class LatencyConfSuite extends AnyFunSuite {

  private def conf(settings: (String, String)*): LatencyConf =
    LatencyConf(new SparkConf(false).setAll(settings))

  test("without settings: INFO, and Kafka's two samples of thirty seconds") {
    assert(conf().recordingLevel === RecordingLevel.Info)
    assert(conf().window === WindowSettings(2, 30000))
  }

  test("settings are read with their units") {
    val set = conf(
      "spark.sparklatency.recording.level" -> "debug",
      "spark.sparklatency.num.samples" -> "6",
      "spark.sparklatency.sample.window" -> "10s"
    )
    assert((set.recordingLevel, set.window) === ((RecordingLevel.Debug, WindowSettings(6, 10000))))
  }

  test("what is not allowed fails with the key, the value and what is") {
    for (
      (key, value) <- Seq(
        "recording.level" -> "x",
        "num.samples" -> "0",
        "num.samples" -> "two",
        "sample.window" -> "0s",
        "sample.window" -> "soon"
      )
    ) {
      val error = intercept[IllegalArgumentException](conf(s"spark.sparklatency.$key" -> value).validate())
      assert(error.getMessage.startsWith(s"spark.sparklatency.$key=$value is not valid: "))
    }
  }
}
