package io.sparklatency.spark

import scala.concurrent.Await
import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.Future
import scala.concurrent.duration.Duration

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._

/** Tasks that run for so long that they publish figures before they end, where not all that tasks read is to count. */
class LongActionsSuite extends MatrixTest {

  /** Four rows in two partitions; the first row of each takes so long that the second one finds figures to publish. */
  private def long(df: DataFrame): DataFrame =
    df.withColumn("id", udf(HeldRows.hold _).asNondeterministic()(col("id")))

  private val fails = udf((id: Long) => if (id > 0) throw new IllegalStateException("on purpose") else id)

  private def marked(id: String): DataFrame =
    mark(spark.range(0, 4, 1, 2).select(col("id"), timestamp_millis(lit(Start - 1) - col("id")).as("ts")), id)

  private val actions = Seq[(String, DataFrame => Any)](
    "two actions on one plan" -> { df =>
      val one = long(df); one.collect(); one.collect()
    },
    "a sort, which samples its input" -> (df => run(long(df).orderBy("id"))),
    "a union of one marked branch with itself" -> (df => run(long(df).union(long(df)))),
    "a plan that failed after the stage that is marked, and another that did not" -> { df =>
      assertThrows[Exception](long(df).repartition(3).select(fails(col("id"))).collect())
      run(long(df))
    },
    "an action outside Spark's SQL executions, and one within" -> { df =>
      val one = long(df); one.rdd.count(); one.collect()
    }
  )

  for ((name, action) <- actions)
    test(s"$name: each row counts once") {
      val id = freshNode()
      action(marked(id))
      assertAges(id, ages(1 to 4))
    }

  /** The most records that a node showed while foreachBatch ran these actions on a batch of three rows, each of which takes long. */
  private def shown(node: String)(actions: DataFrame => Unit): Long = {
    val (input, id) = (stream, freshNode())
    val query = marked(input).withColumn("id", lit(0L) + unix_seconds(col("value"))).writeStream.queryName(id)
      .foreachBatch((batch: DataFrame, _: Long) => actions(batch)).start()
    try {
      input.addData(ago(1000, 3000, 5000))
      val ended = Future(query.processAllAvailable())
      var most = 0L
      while (!ended.isCompleted) {
        most = most.max(findNode(node, id).fold(0L)(_.records))
        Thread.sleep(20) // to leave the tasks a processor
      }
      Await.result(ended, Duration.Zero)
      most
    } finally query.stop()
  }

  test("a row shows once while foreachBatch runs a long action again on its batch") {
    val most = shown("source") { batch => long(batch).collect(); long(batch).collect(); () }
    assert(most > 0 && most <= 3)
  }

  test("a row shows once while foreachBatch runs long actions of different plans on a node") {
    val most = shown("inner") { batch =>
      val inner = mark(batch.withColumnRenamed("value", "ts"), "inner")
      long(inner).collect()
      long(inner.where("id > 0")).collect()
      ()
    }
    assert(most > 0 && most <= 3)
  }

  test("each batch counts once, also when foreachBatch runs two long actions on it") {
    val input = stream
    val query = long(marked(input).withColumn(
      "id",
      lit(0L) + unix_seconds(col("value"))
    )).writeStream.queryName("long_actions")
      .foreachBatch { (batch: DataFrame, _: Long) => batch.collect(); batch.collect(); () }.start()
    try {
      input.addData(ago(1000, 3000))
      processAll(query)
      assertAges("source", Seq(1000, 3000), "long_actions")
    } finally query.stop()
  }
}
