package io.sparklatency.spark

import org.apache.spark.sql.SparkSession

/** The names that tests use of Spark and that are not the same on all its lines: those of Spark 3.5. */
object Lines extends WithoutRealTime {
  type ClassicSession = SparkSession
}
