package io.sparklatency.figures

import org.apache.spark.SparkConf

/** Planted: a class of core that knows Spark. `RoomsSuite` must find it. */
private final class UsesSparkInCore {
  def settings: SparkConf = new SparkConf(false)
}
