package io.sparklatency.spark

import java.sql.Timestamp

/** Where late begins: an operator drops what is as old as its watermark, too. */
class LatenessSuite extends StreamingTest {

  private val interpreted =
    Seq("spark.sql.codegen.wholeStage" -> "false", "spark.sql.codegen.factoryMode" -> "NO_CODEGEN")

  for ((mode, settings) <- Seq("by generated code" -> Nil, "by the interpreter" -> interpreted))
    test(s"a record as old as the watermark is late by nothing, $mode") {
      withSettings(everything ++ settings: _*) {
        val input = stream
        val counted = input.toDF().withWatermark("value", "0 seconds").groupBy("value").count()
        val query = start(counted, s"late $mode", "update")
        try {
          for (ms <- Seq(5, 4, 5, 6)) {
            input.addData(new Timestamp(Start + ms))
            processAll(query)
          }
          val late = node("aggregate-1", query.name).measure("lateness").get
          assert((late.records, late.min, late.avg, late.max) === ((2, Some(0), Some(0.5), Some(1))))
        } finally query.stop()
      }
    }
}
