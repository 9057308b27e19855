package io.sparklatency.spark

import org.scalatest.prop.TableDrivenPropertyChecks

/** The ways in which Spark can evaluate a plan. */
trait EvaluationModes extends TableDrivenPropertyChecks { this: SparkTest =>

  private val modes = Table[String, Seq[(String, String)]](
    ("mode", "settings"),
    ("whole-stage code generation", Seq.empty),
    ("code generation of each operator", Seq("spark.sql.codegen.wholeStage" -> "false")),
    (
      "the interpreter",
      Seq("spark.sql.codegen.wholeStage" -> "false", "spark.sql.codegen.factoryMode" -> "NO_CODEGEN")
    ),
    ("more columns than maxFields", Seq("spark.sql.codegen.maxFields" -> "1")),
    ("a generated method too large for the JIT", Seq("spark.sql.codegen.hugeMethodLimit" -> "1"))
  )

  /** Each begins when the clock stands at the start. */
  protected def inEveryMode(body: => Unit): Unit = forAll(modes) { (_, settings) =>
    withSettings(settings: _*) {
      clock.set(Start)
      body
    }
  }
}
