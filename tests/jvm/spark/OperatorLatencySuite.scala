package io.sparklatency.spark

import java.sql.Timestamp

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import io.sparklatency.spark.Lines.MemoryStream
import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.ListenerBus
import org.apache.spark.sql.streaming.StreamingQuery

/** Which operators a batch's time went to, as a user reads it. */
class OperatorLatencySuite extends StreamingTest {
  import OperatorLatencySuite._

  /** By the clock that ships. Within a stage, work is seen by looking at it as it goes on. */
  private def operators(query: String): JsonNode =
    latencyOf(query).get("queries").elements.asScala.next().get("operators")

  private def nodesIn(work: JsonNode): Map[String, JsonNode] =
    work.get("stages").elements.asScala.flatMap(_.get("nodes").elements.asScala)
      .map(node => node.get("node").asText -> node).toMap

  private def latency(work: JsonNode, node: String): Double = nodesIn(work)(node).get("latency").asDouble
  private def ewt(work: JsonNode, node: String): Double = nodesIn(work)(node).get("ewt").asDouble

  private def steps(work: JsonNode): Seq[(String, Seq[String], Double)] =
    work.get("steps").elements.asScala.map { step =>
      val nodes = step.get("nodes").elements.asScala.map(_.asText).toSeq
      (step.get("kind").asText, nodes, step.get("ms").asDouble)
    }.toSeq

  private def longest(work: JsonNode): (String, Seq[String]) =
    steps(work).maxBy(_._3) match { case (kind, nodes, _) => kind -> nodes }

  private def addsUp(work: JsonNode): Boolean =
    math.abs(steps(work).map(_._3).sum - work.get("latency").asDouble) < 0.01

  private def running(query: StreamingQuery)(body: => Unit): Unit =
    try body
    finally query.stop()

  for (codegen <- Seq("true", "false"))
    test(s"a stage with one node behind a shuffle takes what that node takes, code generation $codegen") {
      withSettings("spark.sql.codegen.wholeStage" -> codegen) {
        val (input, name) = (stream, s"one_step_$codegen")
        val seconds =
          newestOfEachSecond(marked(input)).withColumn("slow", slow(300)(unix_millis(col("last"))))
        val query = start(seconds.filter("slow > 0").withE2ELatency("sink", "last"), name, "update")
        running(query) {
          input.addData(ago(100, 5100, 9100))
          processAll(query)
          val work = operators(name)
          assert((latency(work, "source"), latency(work, "sink")) === ((0.0, 900.0)))
          assert(steps(work) === Seq(("stage", Seq("sink"), 900.0)))
          assert((ewt(work, "source"), ewt(work, "sink")) === ((0.0, 900.0)))
          assert(work.get("criticalPath").elements.asScala.map(_.asText).toSeq === Seq("source", "sink"))
          val gauge = s"query.$name.node.sink.operator-latency"
          assert((gauges(gauge), gauges(s"$gauge-avg")) === ((900.0, 900.0)))
        }
        ListenerBus.awaitEmpty(spark.sparkContext)
        assert(!gauges.keys.exists(_.startsWith(s"query.$name.")))
      }
    }

  for (codegen <- Seq("true", "false"))
    test(s"an operator that gathers all rows ends the node before it earlier, code generation $codegen") {
      withSettings("spark.sql.codegen.wholeStage" -> codegen) {
        val (before, behind) = (freshNode(), freshNode())
        val rows = spark.range(0, 10, 1, 1).withColumn("read", slow(10)(col("id")))
          .withColumn("ts", timestamp_millis(col("read") * 0 + lit(Start))).withE2ELatency(before, "ts")
        val sorted = rows.sortWithinPartitions(col("id").desc).withColumn("slow", slow(100)(col("id")))
        run(sorted.withE2ELatency(behind, "ts"))
        val work = operators("__batch__")
        assert((ewt(work, before), ewt(work, behind)) === ((100.0, 1100.0)))
      }
    }

  for (codegen <- Seq("true", "false"))
    test(s"of the nodes of one stage the one before which the time went is named, code generation $codegen") {
      withSettings("spark.sql.codegen.wholeStage" -> codegen)(byTheWall {
        val (a, b, c) = (freshNode(), freshNode(), freshNode())
        // A thread that rests may wake up late, and the one that looks, too: both steps are longer than that, the second by far.
        val rows = timed(spark.range(0, 10, 1, 2).toDF()).withE2ELatency(a, "ts")
        run(resting(resting(rows, "x", 20).withE2ELatency(b, "ts"), "y", 400).withE2ELatency(c, "ts"))
        val work = operators("__batch__")
        assert(longest(work) === (("node", Seq(c))) && addsUp(work), work.toPrettyString)
        assert(latency(work, a) === 0.0 && latency(work, b) > 0, work.toPrettyString)
      })
    }

  test("where a thread of its own feeds a script, as a Python function of Spark 3.5, the stage is named") {
    byTheWall {
      val (before, behind) = (freshNode(), freshNode())
      timed(spark.range(0, 10, 1, 1).toDF()).withE2ELatency(before, "ts").createOrReplaceTempView("fed")
      val script = "SELECT TRANSFORM(id, ts) USING 'sleep 1; cat' AS (id BIGINT, ts TIMESTAMP) FROM fed"
      run(spark.sql(script).withE2ELatency(behind, "ts"))
      val work = operators("__batch__")
      assert(longest(work) === (("stage", Seq(before, behind))) && addsUp(work), work.toPrettyString)
      assert(nodesIn(work)(behind).get("latency").isNull, work.toPrettyString)
    }
  }

  test("a mark above a join with an empty side, for whose rows there is no code, fails nothing") {
    withSettings("spark.sql.adaptive.enabled" -> "false") {
      val (rows, none) = (timed(spark.range(0, 10, 1, 2).toDF()), spark.range(0, 10, 1, 2).filter("id > 100"))
      for (kind <- Seq("inner", "leftsemi")) {
        val joined = rows.join(broadcast(none), Seq("id"), kind).withE2ELatency(freshNode(), "ts")
        assert(joined.queryExecution.executedPlan.toString.contains("BroadcastHashJoin"))
        run(joined)
      }
    }
  }

  private def diamond(
      name: String,
      ms: Long,
      of: (DataFrame, DataFrame) => DataFrame
  )(rows: MemoryStream[Timestamp] => DataFrame) =
    test(
      s"of a diamond by $name the slow branch is named, and the other within three batches when it becomes slow"
    ) {
      byTheWall {
        val (input, query) = (stream, s"diamond_by_$name")
        val read = rows(input).withE2ELatency("a", "value")
        def branch(id: String) = read.filter(branchIsSlow(id)(col("value"))).withE2ELatency(id, "value")
        val started = start(of(branch("b"), branch("c")), query)
        running(started) {
          def batch(): JsonNode = {
            input.addData((1 to 3).map(_ => new Timestamp(System.currentTimeMillis())))
            processAll(started)
            operators(query)
          }
          def slowAre(moved: String): Seq[JsonNode] = {
            slowBranch = moved
            (1 to 3).map(_ => batch())
          }
          // For each of its three records the slow branch takes as long as all that a batch else takes on this machine.
          slowBranch = ""
          batch()
          pauseMs = ms.max(batch().get("latency").asDouble.toLong)
          def isNamed(branch: String)(work: JsonNode) = longest(work) === (("node", Seq(branch)))
          val (first, after) = (slowAre("b"), slowAre("c"))
          for ((branch, said) <- Seq("b" -> first, "c" -> after)) {
            val named = said.find(isNamed(branch))
            assert(named.nonEmpty, said.map(longest))
            val found = named.get
            assert(found.get("criticalPath").elements.asScala.map(_.asText).toSeq === Seq("a", branch, "d"))
            assert(latency(found, "a") === 0.0 && found.get("latency").asDouble > ms)
          }
          assert(addsUp(operators(query)))
        }
      }
    }

  diamond("union", 150, (b, c) => b.union(c).withE2ELatency("d", "value"))(_.toDF())

  diamond(
    "join",
    800,
    (b, c) =>
      b.as("b").join(c.as("c"), expr("b.value = c.value")).select("b.value").withE2ELatency("d", "value")
  )(watermarked)

  private def timed(rows: DataFrame): DataFrame =
    rows.withColumn("ts", lit(new Timestamp(System.currentTimeMillis())))

  private def resting(rows: DataFrame, column: String, ms: Long): DataFrame =
    rows.withColumn(
      column,
      udf((_: Any) => rest(ms)).asNondeterministic()(col(rows.columns.head))
    ).filter(col(column) >= 0)
}

object OperatorLatencySuite {
  @volatile private var slowBranch = ""
  @volatile private var pauseMs = 0L

  private def rest(ms: Long): Long = { Thread.sleep(ms); ms }

  private def branchIsSlow(id: String) = udf { (_: Timestamp) =>
    if (slowBranch == id) Thread.sleep(pauseMs)
    true
  }.asNondeterministic()
}
