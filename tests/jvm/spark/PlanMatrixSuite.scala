package io.sparklatency.spark

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.adaptive.AQEShuffleReadExec
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.TemporaryFolder

/** Marks in batch plans of every shape, in every way in which Spark runs them. */
class PlanMatrixSuite extends MatrixTest with AdaptiveSparkPlanHelper {

  /** Shape, the plan, and the ages that each of its nodes counts. */
  private val plans = Seq[(String, Ids => DataFrame, Map[String, Seq[Long]])](
    (
      "a union of two marked branches",
      id => mark(rows(10), id("left")).union(mark(rows(4), id("right"))),
      Map("left" -> ages(1 to 10), "right" -> ages(1 to 4))
    ),
    (
      "a union of a marked branch with itself, and a mark above it",
      id => { val one = mark(rows(10), id("branch")); mark(one.union(one.filter("id > 5")), id("union")) },
      Map("branch" -> ages(1 to 10), "union" -> (ages(1 to 10) ++ ages(6 to 10)))
    ),
    (
      "a limit, which stops in each partition where it has enough",
      id => mark(mark(rows(100), id("below")).limit(5), id("above")),
      Map(
        "below" -> Seq(1, 26, 51, 76).flatMap(first => ages(first until first + 5)),
        "above" -> ages(1 to 5)
      )
    ),
    (
      "a global sort, which samples its input",
      id => mark(mark(rows(1000), id("below")).orderBy(col("id").desc), id("above")),
      Map("below" -> ages(1 to 1000), "above" -> ages(1 to 1000))
    ),
    (
      "repartitionByRange, which samples its input",
      id => mark(mark(rows(1000), id("below")).repartitionByRange(3, col("id")), id("above")),
      Map("below" -> ages(1 to 1000), "above" -> ages(1 to 1000))
    ),
    (
      "columns that are pruned above",
      id => mark(rows(10), id("node")).select(col("key") + 1),
      Map("node" -> ages(1 to 10))
    ),
    (
      "explode below and above",
      id => mark(mark(rows(3), id("below")).withColumn("n", explode(array(lit(1), lit(2)))), id("above")),
      Map("below" -> ages(1 to 3), "above" -> ages(1 to 3).flatMap(age => Seq(age, age)))
    ),
    (
      "a shuffle to which a hash of a column leads",
      id => mark(mark(rows(100), id("below")).repartition(col("key")), id("above")).groupBy("key").count(),
      Map("below" -> ages(1 to 100), "above" -> ages(1 to 100))
    ),
    (
      "a sort-merge join",
      id =>
        mark(
          mark(rows(10), id("left")).hint("merge").join(mark(rows(5), id("right")).select("id"), "id"),
          id("joined")
        ),
      Map("left" -> ages(1 to 10), "right" -> ages(1 to 5), "joined" -> ages(1 to 5))
    ),
    (
      "the broadcast side of a join",
      id => mark(rows(10), id("left")).join(broadcast(mark(rows(5), id("broadcast"))), "id"),
      Map("left" -> ages(1 to 10), "broadcast" -> ages(1 to 5))
    ),
    (
      "a scalar subquery",
      id => {
        mark(rows(5), id("inner")).createOrReplaceTempView("plan_matrix_inner")
        mark(rows(10), id("outer")).filter("id <= (SELECT max(id) FROM plan_matrix_inner)")
      },
      Map("inner" -> ages(1 to 5), "outer" -> ages(1 to 10))
    ),
    (
      "typed map, filter and mapPartitions around marks",
      id => {
        import spark.implicits._
        val typed = mark(rows(10), id("source")).select(col("id"), col("ts")).as[(Long, java.sql.Timestamp)]
        val filtered = typed.filter(_._1 > 2).map(row => (row._1 * 2, row._2)).toDF("id", "ts")
        val halved =
          mark(filtered, id("mapped")).as[(Long, java.sql.Timestamp)].mapPartitions(_.filter(_._1 % 4 == 0))
        mark(halved.toDF("id", "ts"), id("sink"))
      },
      Map("source" -> ages(1 to 10), "mapped" -> ages(3 to 10), "sink" -> Seq(4, 6, 8, 10))
    ),
    (
      "two scalar subqueries of one marked view, which Spark merges",
      id => {
        mark(rows(5), id("view")).createOrReplaceTempView("plan_matrix_view")
        rows(10).filter(
          "id <= (SELECT max(id) FROM plan_matrix_view) AND id >= (SELECT min(id) FROM plan_matrix_view)"
        )
      },
      Map("view" -> ages(1 to 5))
    ),
    (
      "a common table expression that is read twice",
      id => {
        rows(10).createOrReplaceTempView("plan_matrix_rows")
        val marked = s"SELECT /*+ E2E_LATENCY('${id("cte")}', ts) */ * FROM plan_matrix_rows WHERE id < 8"
        spark.sql(
          s"WITH marked AS ($marked) SELECT id FROM marked UNION ALL SELECT key FROM marked WHERE id > 3"
        )
      },
      Map("cte" -> ages(1 to 7))
    ),
    (
      "an aggregation of no rows, of which adaptive planning leaves nothing",
      id =>
        mark(
          mark(rows(10), id("below")).filter("id > 100").groupBy("key").agg(max("ts").as("ts")),
          id("above")
        ),
      Map("below" -> ages(1 to 10), "above" -> Seq())
    ),
    (
      "rollup, which reads each row several times",
      id => mark(mark(rows(9), id("below")).rollup("key").agg(max("ts").as("ts")), id("above")),
      Map("below" -> ages(1 to 9), "above" -> Seq(1, 2, 3, 1))
    ),
    (
      "a window function",
      id =>
        mark(
          mark(
            rows(9),
            id("below")
          ).withColumn("n", expr("row_number() OVER (PARTITION BY key ORDER BY id)")),
          id("above")
        ),
      Map("below" -> ages(1 to 9), "above" -> ages(1 to 9))
    ),
    (
      "EXISTS with a mark on each side",
      id => {
        mark(rows(5), id("inner")).createOrReplaceTempView("plan_matrix_exists")
        mark(
          rows(10),
          id("outer")
        ).as("o").filter("EXISTS (SELECT * FROM plan_matrix_exists i WHERE i.id = o.id)")
      },
      Map("inner" -> ages(1 to 5), "outer" -> ages(1 to 10))
    ),
    (
      "a Parquet file that is read in vectors",
      id => mark(spark.read.parquet(parquet).filter("id > 3"), id("scan")).select("key"),
      Map("scan" -> ages(4 to 20))
    ),
    (
      "a recursive common table expression, marked within and above",
      id => {
        rows(2).createOrReplaceTempView("plan_matrix_anchor")
        val anchor = s"SELECT /*+ E2E_LATENCY('${id("anchor")}', ts) */ 1 AS n, ts FROM plan_matrix_anchor"
        val step = s"SELECT /*+ E2E_LATENCY('${id("step")}', ts) */ n + 1 AS n, ts FROM r WHERE n < 3"
        mark(spark.sql(s"WITH RECURSIVE r(n, ts) AS ($anchor UNION ALL $step) SELECT * FROM r"), id("above"))
      },
      Map("anchor" -> Seq(1, 2), "step" -> Seq(1, 2, 1, 2), "above" -> Seq(1, 1, 1, 2, 2, 2))
    )
  )

  private lazy val parquet: String = {
    val folder = TemporaryFolder("rows").toString
    rows(20).write.mode("overwrite").parquet(folder)
    folder
  }

  for (((shape, plan, expected), (mode, settings)) <- sample.of(plans, modes))
    test(s"$shape, $mode") {
      withSettings(settings: _*) {
        val ids = new Ids
        run(plan(ids))
        for ((name, ages) <- expected) assertAges(ids(name), ages)
      }
    }

  /** Rows of key 0 are many, and adaptive planning gives them to several tasks; those of the other keys it gives to one. */
  private val adaptive = Seq(
    "spark.sql.adaptive.advisoryPartitionSizeInBytes" -> "2000",
    "spark.sql.adaptive.coalescePartitions.initialPartitionNum" -> "8",
    "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes" -> "2000",
    "spark.sql.adaptive.skewJoin.skewedPartitionFactor" -> "0",
    "spark.sql.adaptive.coalescePartitions.minPartitionSize" -> "1",
    "spark.sql.autoBroadcastJoinThreshold" -> "-1",
    "spark.sql.adaptive.autoBroadcastJoinThreshold" -> "-1"
  )

  private def skewed: DataFrame = rows(2000).withColumn("key", when(col("id") > 20, 0).otherwise(col("id")))

  private def reads(df: DataFrame): Seq[AQEShuffleReadExec] =
    collect(df.queryExecution.executedPlan) { case read: AQEShuffleReadExec => read }

  test("a shuffle whose partitions are split and joined: marks below and above it count each row once") {
    withSettings(adaptive: _*) {
      val (below, above) = (freshNode(), freshNode())
      val rebalanced = mark(mark(skewed, below).hint("rebalance", col("key")), above)
      rebalanced.collect()
      assert(reads(rebalanced).exists(read => read.hasSkewedPartition && read.hasCoalescedPartition))
      assertAges(below, ages(1 to 2000))
      assertAges(above, ages(1 to 2000))
    }
  }

  test("a join whose skewed side is split, so that the other is read several times, counts each row once") {
    withSettings(adaptive: _*) {
      val (left, right, joined) = (freshNode(), freshNode(), freshNode())
      val join = mark(
        mark(skewed, left).hint("merge").join(mark(skewed.filter("id < 30"), right).select("key"), "key"),
        joined
      )
      join.collect()
      assert(reads(join).exists(_.hasSkewedPartition))
      assertAges(left, ages(1 to 2000))
      assertAges(right, ages(1 to 29))
      assertAges(joined, ages(1 to 20) ++ ages(21 to 2000).flatMap(Seq.fill(9)(_)))
    }
  }
}
