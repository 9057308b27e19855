package io.sparklatency.spark

import org.scalatest.prop.TableDrivenPropertyChecks

/** The ways in which Spark can evaluate a plan. In a sample each test has one of them, and each of them some test. */
trait EvaluationModes extends Sampled with TableDrivenPropertyChecks { this: SparkTest =>

  private val modes = Seq[(String, Seq[(String, String)])](
    "whole-stage code generation" -> Seq.empty,
    "code generation of each operator" -> Seq("spark.sql.codegen.wholeStage" -> "false"),
    "the interpreter" -> Seq(
      "spark.sql.codegen.wholeStage" -> "false",
      "spark.sql.codegen.factoryMode" -> "NO_CODEGEN"
    ),
    "more columns than maxFields" -> Seq("spark.sql.codegen.maxFields" -> "1"),
    "a generated method too large for the JIT" -> Seq("spark.sql.codegen.hugeMethodLimit" -> "1")
  )

  private val turns = Iterator.from(0)

  /** In every mode, or in a sample in that whose turn it is. Each begins when the clock stands at the start. */
  protected def inEveryMode(body: => Unit): Unit =
    forAll(Table(("mode", "settings"), sample.modesOf(turns.next(), modes): _*)) { (_, settings) =>
      withSettings(settings: _*) {
        clock.set(Start)
        body
      }
    }
}
