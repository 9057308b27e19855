package io.sparklatency.spark

import org.apache.spark.sql.classic

/** The names that tests use of Spark and that are not the same on all its lines: those of Spark 4.0. */
object Lines extends WithoutRealTime {
  type ClassicSession = classic.SparkSession
}
