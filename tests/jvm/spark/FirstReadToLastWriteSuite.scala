package io.sparklatency.spark

import java.sql.Timestamp

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.functions.lit
import org.apache.spark.sql.latency.ListenerBus

/** What the steps of the critical path add up to, against a source and a sink that note when they read and write. */
class FirstReadToLastWriteSuite extends StreamingTest {
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
      StopwatchTable.begin(Thread.sleep(_))
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
        StopwatchTable.begin(clock.advance)
        ran(between)
        val taken = StopwatchTable.taken()
        // What a task prepares before it reads anything is a wait between two stages, and before the first it is none of the batch's.
        val prepared = if (name == "two stages") Seq("waiting" -> ToPrepare.toDouble) else Nil
        assert(taken.ms === ToOpen + Rows * (ToRead + ToStep + ToWrite) + ToCommit + prepared.map(_._2).sum)
        assert(steps.map(_._2).sum === taken.ms)
        assert(steps.filter(_._1 == "waiting") === prepared)
        assert(operators.get("latency").asDouble === taken.ms)
        assert(operators.get("firstRead").asDouble === taken.firstRead / 1000.0)
      }
    }

  test("a step that has a stage to itself takes what it and its writing take") {
    StopwatchTable.begin(clock.advance)
    val stepped = ran(_.repartition(1))
    assert(latency(stepped) === StopwatchTable.taken().inStepMs)
    assert(latency(stepped) === Rows * (ToStep + ToWrite) + ToCommit)
  }

  for (codegen <- Seq("true", "false"))
    test(s"automatic nodes are not at work before their first read, code generation $codegen") {
      val automatic = Seq("auto" -> "source,terminal", "auto.batch" -> "true")
      withSettings(automatic.map { case (key, value) => s"spark.sparklatency.$key" -> value } :+
        "spark.sql.codegen.wholeStage" -> codegen: _*) {
        StopwatchTable.begin(clock.advance)
        val topic = spark.read.format(classOf[TopicProvider].getName).option("topic", s"read_$codegen")
          .option("now", Start).option("records", Rows.toLong).load()
        val rows = topic.coalesce(1).select(col("value").as("id"), col("timestamp").as("ts"))
        rows.write.format(classOf[StopwatchTable].getName).mode("append").save()
        ListenerBus.awaitEmpty(spark.sparkContext)
        assert(operators.get("criticalPath").elements.asScala.map(_.asText).toSeq ===
          Seq(s"source-0-kafka[read_$codegen]", "sink"))
        assert(operators.get("firstRead").asDouble === Start + ToPrepare.toDouble)
        assert(steps.map(_._2).sum === 2 * Rows * ToWrite + ToCommit)
      }
    }

  test("each task of a union begins with its first read, whether its branch has a mark of its own or not") {
    byTheWall {
      StopwatchTable.begin(Thread.sleep(_))
      val table = classOf[StopwatchTable].getName
      def branch = spark.read.format(table).option("rows", Rows.toLong).load()
      for (codegen <- Seq("true", "false")) withSettings("spark.sql.codegen.wholeStage" -> codegen) {
        branch.withE2ELatency(freshNode(), "ts").union(branch).withE2ELatency(freshNode(), "ts")
          .write.format(table).mode("append").save()
        ListenerBus.awaitEmpty(spark.sparkContext)
        assert(operators.get("firstRead").asDouble >= StopwatchTable.taken().prepared / 1000.0)
      }
    }
  }

  test("what a task prepares before it reads is in the start of the batch, and the parts add up") {
    byTheWall {
      StopwatchTable.begin(ms => if (ms == ToPrepare) Thread.sleep(1000))
      val input = stream
      val rows = input.toDF().select(lit(0L).as("id"), col("value").as("ts")).withE2ELatency("read", "ts")
      val query = rows.withColumn("id", step(col("id"))).withE2ELatency("stepped", "ts").writeStream
        .queryName("prepared").foreachBatch { (batch: DataFrame, _: Long) =>
          batch.write.format(classOf[StopwatchTable].getName).mode("append").save()
        }.start()
      try {
        input.addData(new Timestamp(System.currentTimeMillis()))
        processAll(query)
        val parts =
          latencyOf("prepared").get("queries").elements.asScala.next().get("parts").get("of").elements
            .asScala.map(part => part.get("code").asText -> part.get("ms").asDouble).toSeq
        assert(parts.toMap.getOrElse("start-of-the-batch", 0.0) >= 1000, parts)
        val age = node("stepped", "prepared").measure("commit").flatMap(_.avg).get
        assert(math.abs(parts.map(_._2).sum - age) < 0.1, parts) // less than 0.05 ms is not shown
      } finally query.stop()
    }
  }
}
