package io.sparklatency.spark

import java.sql.Timestamp

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import io.sparklatency.spark.Lines.LowLatencyMemoryStream
import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.WholeStageCodegenExec
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.Plans
import org.scalatest.time.Millis
import org.scalatest.time.Span

/**
 * Nodes around a union whose branches are one stage of generated code: Spark 4.3 has it so by default, and 4.2 by this setting. A task runs
 * the code of one branch, and initializes that of all.
 */
class CompiledUnionSuite extends LongTasksTest {
  import CompiledUnionSuite._

  private val compiled = "spark.sql.codegen.wholeStage.union.enabled" -> "true"
  private val isCompiled = spark.version >= "4.2"
  private val automatic = Seq("auto" -> "source,terminal", "auto.ingestion" -> "true")
    .map { case (key, value) => s"spark.sparklatency.$key" -> value }

  private def branch(rows: DataFrame, at: Int): DataFrame =
    rows.filter(rests(col("value"))).select(col("value"), lit(at).as("branch"))

  private def nodes(query: String): Map[String, JsonNode] =
    latencyOf(query).at("/queries/0/operators/stages").elements.asScala
      .flatMap(_.get("nodes").elements.asScala).map(node => node.get("node").asText -> node).toMap

  test("a source is read by the tasks of its own branch alone, and work behind it is the end's") {
    def ran(name: String): JsonNode = {
      val (one, two) = (stream, stream)
      one.addData(ago(1))
      two.addData(ago(2, 3))
      val query = start(branch(one.toDF(), 1).union(branch(two.toDF(), 2)), name)
      try {
        processAll(query)
        assert(Plans.generatedCode(query).exists(_.contains("unionChildProcess")) === isCompiled)
        val found = nodes(name)
        val partitions = found.map { case (id, node) =>
          id -> node.at("/partitions/of").elements.asScala.map(_.get("records").asInt).toSeq.sorted
        }
        assert(partitions ===
          Map("source-0-memory" -> Seq(1), "source-1-memory" -> Seq(2), "sink" -> Seq(1, 2)))
        found("sink")
      } finally query.stop()
    }
    byTheWall(withSettings(compiled +: automatic: _*) {
      // Where the thread that looks at tasks was kept from it for half of one, nothing is known of its work.
      val sinks = (1 to 20).iterator.map(number => ran(s"compiled_union_$number"))
      val sink = sinks.find(!_.get("latency").isNull).getOrElse(fail("no task was looked at"))
      assert(sink.get("latency").asDouble > PauseMs, sink)
      ()
    })
  }

  test("in real-time mode, too, a task opens the source of its own branch, and work behind it is the end's") {
    byTheWall(withSettings(compiled +: automatic: _*) {
      val (one, two) =
        (LowLatencyMemoryStream[Timestamp](spark, 1), LowLatencyMemoryStream[Timestamp](spark, 1))
      val query = startInRealTime(branch(one.toDF(), 1).union(branch(two.toDF(), 2)), "compiled_real_time")
      try {
        eventually(interval(Span(200, Millis))) {
          two.addData(ago(1))
          val sink = nodes("compiled_real_time")("sink")
          assert(sink.get("latency").asDouble > PauseMs, sink)
        }
        val code = Plans.generatedCode(query).filter(_.contains("unionChildProcess"))
        assert(code.nonEmpty === isCompiled)
        // Before the rows only the end, in the code of each branch.
        assert(code.flatMap("\\.openOnce\\(".r.findAllIn(_)).size === (if (isCompiled) 2 else 0))
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
