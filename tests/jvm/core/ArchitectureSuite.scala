package io.sparklatency

import org.scalatest.funsuite.AnyFunSuite

class ArchitectureSuite extends AnyFunSuite {

  test("Spark is not on the class path of the core") {
    assertThrows[ClassNotFoundException](Class.forName("org.apache.spark.SparkContext"))
  }
}
