package io.sparklatency.spark

import java.sql.Timestamp

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import io.sparklatency.spark.Lines.MemoryStream
import io.sparklatency.spark.syntax._
import org.apache.spark.sql.execution.WholeStageCodegenExec
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.Plans

/**
 * Nodes around a union whose branches are one stage of generated code: Spark 4.3 has it so by default, and 4.2 by this setting. A task runs
 * the code of one branch, and initializes that of all.
 */
class CompiledUnionSuite extends StreamingTest {
  import CompiledUnionSuite._

  private val compiled = "spark.sql.codegen.wholeStage.union.enabled" -> "true"
  private val isCompiled = spark.version >= "4.2"

  private def nodes(query: String): Map[String, JsonNode] =
    latencyOf(query).at("/queries/0/operators/stages").elements.asScala
      .flatMap(_.get("nodes").elements.asScala).map(node => node.get("node").asText -> node).toMap

  test("a source is read by the tasks of its own branch alone, and work behind it is the end's") {
    val automatic = Seq("auto" -> "source,terminal", "auto.ingestion" -> "true")
      .map { case (key, value) => s"spark.sparklatency.$key" -> value }
    byTheWall(withSettings(compiled +: automatic: _*) {
      val (one, two) = (stream, stream)
      one.addData(ago(1))
      two.addData(ago(2, 3))
      def branch(of: MemoryStream[Timestamp], at: Int) =
        of.toDF().filter(rests(col("value"))).select(col("value"), lit(at).as("branch"))
      val query = start(branch(one, 1).union(branch(two, 2)), "compiled_union")
      try {
        processAll(query)
        assert(Plans.generatedCode(query).exists(_.contains("unionChildProcess")) === isCompiled)
        val found = nodes("compiled_union")
        val partitions = found.map { case (id, node) =>
          id -> node.at("/partitions/of").elements.asScala.map(_.get("records").asInt).toSeq.sorted
        }
        assert(partitions ===
          Map("source-0-memory" -> Seq(1), "source-1-memory" -> Seq(2), "sink" -> Seq(1, 2)))
        assert(found("sink").get("latency").asDouble > PauseMs, found("sink"))
      } finally query.stop()
    })
  }

  test("above it a task opens a node once, however many branches there are") {
    withSettings(compiled) {
      def branch(from: Long) = spark.range(from, from + 10).filter(col("id") % 2 === 0)
      val rows = branch(0).union(branch(100)).withColumn("ts", timestamp_millis(col("id")))
      val plan = rows.withE2ELatency(freshNode(), "ts").filter(col("id") > 2).queryExecution.executedPlan
      val code = plan.collect { case stage: WholeStageCodegenExec => stage.doCodeGen()._2.body }
        .filter(_.contains("unionChildProcess"))
      assert(code.nonEmpty === isCompiled)
      assert(code.map("\\.open(Once)?\\(".r.findAllIn(_).size).forall(_ == 1), code)
    }
  }
}

object CompiledUnionSuite {
  private val PauseMs = 100L
  private val rests = udf { (_: Timestamp) => Thread.sleep(PauseMs + 20); true }.asNondeterministic()
}
