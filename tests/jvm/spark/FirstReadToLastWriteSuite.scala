package io.sparklatency.spark

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.latency.ListenerBus

/** What the steps of the critical path add up to, against a source and a sink that note when they read and write. */
class FirstReadToLastWriteSuite extends SparkTest {
  import StopwatchTable._

  private val Rows = 3

  private def operators: JsonNode =
    latencyOf("__batch__").get("queries").elements.asScala.next().get("operators")

  private def steps: Seq[(String, Double)] =
    operators.get("steps").elements.asScala.map(step =>
      step.get("kind").asText -> step.get("ms").asDouble
    ).toSeq

  private def latency(node: String): Double =
    operators.get("stages").elements.asScala.flatMap(_.get("nodes").elements.asScala)
      .find(_.get("node").asText == node).get.get("latency").asDouble

  /** Reads, takes a step, and writes. Returns the node behind the step. */
  private def ran(between: DataFrame => DataFrame): String = {
    val (read, stepped) = (freshNode(), freshNode())
    val table = classOf[StopwatchTable].getName
    val rows = spark.read.format(table).option("rows", Rows.toLong).load().withE2ELatency(read, "ts")
    val marked = between(rows).withColumn("id", step(col("id"))).withE2ELatency(stepped, "ts")
    marked.write.format(table).mode("append").save()
    ListenerBus.awaitEmpty(spark.sparkContext)
    stepped
  }

  private val plans = Seq[(String, DataFrame => DataFrame)](
    "one stage" -> identity,
    "two stages" -> (_.repartition(1))
  )

  // Comes first: where this suite runs alone, its first batch is the first of the driver.
  test("by the clock on the wall nothing is left out, from the first batch on") {
    byTheWall {
      StopwatchTable.rest = Thread.sleep(_)
      for (codegen <- Seq("false", "true"); (name, between) <- plans; batch <- 1 to 3)
        withSettings("spark.sql.codegen.wholeStage" -> codegen) {
          val stepped = ran(between)
          val (taken, told) = (StopwatchTable.taken(), steps.map(_._2).sum)
          info(s"$name, code generation $codegen, batch $batch: from the first read to the last write " +
            compared(taken.ms, told))
          assert(told >= taken.ms - 0.01)
          if (name == "two stages") {
            info(s"and the step with a stage to itself ${compared(taken.inStepMs, latency(stepped))}")
            assert(latency(stepped) >= taken.inStepMs - 0.01)
          }
        }
    }
  }

  private def compared(own: Double, told: Double) =
    f"$own%.1f ms, told $told%.1f ms (${(told / own - 1) * 100}%+.1f %%)"

  for ((name, between) <- plans; codegen <- Seq("true", "false"))
    test(
      s"the steps of a batch of $name add up, from the first read to the last write, code generation $codegen"
    ) {
      withSettings("spark.sql.codegen.wholeStage" -> codegen) {
        StopwatchTable.rest = clock.advance
        ran(between)
        val taken = StopwatchTable.taken()
        assert(taken.ms === ToOpen + Rows * (ToRead + ToStep + ToWrite) + ToCommit)
        assert(steps.map(_._2).sum === taken.ms)
        assert(operators.get("latency").asDouble === taken.ms)
      }
    }

  test("a step that has a stage to itself takes what it and its writing take") {
    StopwatchTable.rest = clock.advance
    val stepped = ran(_.repartition(1))
    assert(latency(stepped) === StopwatchTable.taken().inStepMs)
    assert(latency(stepped) === Rows * (ToStep + ToWrite) + ToCommit)
  }
}
