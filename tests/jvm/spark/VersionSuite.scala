package io.sparklatency.spark.base

import scala.util.Properties

import org.apache.spark.SPARK_VERSION
import org.scalatest.funsuite.AnyFunSuite

/** A jar is for one line of Spark and of Scala, and says so where it is not. */
class VersionSuite extends AnyFunSuite {
  private val scalaLine = Properties.versionNumberString.split('.').take(2).mkString(".")

  private def refused(spark: String, scala: String): String =
    intercept[IllegalStateException](Version.requireFit(spark, scala)).getMessage

  test("the Spark and the Scala at hand fit") {
    Version.requireFit()
    assert(SPARK_VERSION.startsWith(s"${Version.sparkLine}."))
  }

  test("another release of the same lines fits, also a vendor's") {
    Version.requireFit(s"${Version.sparkLine}.99", s"$scalaLine.99")
    Version.requireFit(s"${Version.sparkLine}.0-vendor-1", s"$scalaLine.0-M1")
  }

  test("another line of Spark is told which jar would fit") {
    assert(refused("4.20.1", Properties.versionNumberString) ===
      s"sparklatency-spark_${Version.sparkLine}_$scalaLine is not for this Spark, which is 4.20.1 with Scala " +
      s"${Properties.versionNumberString}. Take sparklatency-spark_4.20_$scalaLine, if there is one: the README of " +
      "sparklatency lists the versions.")
  }

  test("another Scala is told which jar would fit") {
    assert(refused(
      SPARK_VERSION,
      "2.11.12"
    ).contains(s"Take sparklatency-spark_${Version.sparkLine}_2.11, if there"))
  }
}
