package io.sparklatency.spark

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.Row
import org.apache.spark.sql.execution.SortExec
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.TakeOrderedAndProjectExec
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.Plans

/** What a limit takes of rows that are sorted: with nodes between the two the first of them, as without. */
class FirstRowsSuite extends MatrixTest {
  import FirstRowsSuite._

  private def sorted: DataFrame = rows(1000).orderBy(col("id").desc)

  /** Shape, the plan without marks and with them, and the ages that the node counts where that is certain. */
  private val shapes = Seq[(String, Mark => DataFrame, Option[Seq[Long]])](
    ("a limit", mark => mark(sorted).limit(5), Some(ages(996 to 1000))),
    ("a limit of what an offset leaves", mark => mark(sorted).offset(3).limit(5), Some(ages(993 to 997))),
    ("an offset of what a limit leaves", mark => mark(sorted).limit(5).offset(3), Some(ages(996 to 997))),
    (
      "a projection in front of the mark, which drops the column by which is sorted",
      mark => mark(sorted.select((col("id") * 2).as("double"), col("ts"))).limit(5),
      Some(ages(996 to 1000))
    ),
    (
      "projections on both sides of the mark",
      mark => mark(sorted.withColumn("double", col("id") * 2)).select("double").limit(5),
      Some(ages(996 to 1000))
    ),
    (
      "a limit below a join",
      mark => rows(1000).join(mark(sorted).limit(5).select("id"), "id"),
      Some(ages(996 to 1000))
    ),
    (
      "a limit in a subquery",
      { mark =>
        mark(sorted).createOrReplaceTempView("first_rows")
        rows(1000).filter("id IN (SELECT id FROM first_rows LIMIT 5)")
      },
      Some(ages(996 to 1000))
    ),
    ("a filter behind the mark", mark => mark(sorted).filter("key = 0").limit(5), None),
    (
      "a filter and a projection behind the mark, which drops the column by which is sorted",
      mark => mark(sorted).select(col("key") + 1 as "key", col("ts")).filter("key = 1").limit(5),
      None
    )
  )

  private def tops(plan: SparkPlan): Seq[(Int, Int)] =
    Plans.collectWithSubqueries(plan) { case top: TakeOrderedAndProjectExec => top.limit -> top.offset }

  private def sorts(plan: SparkPlan): Int =
    Plans.collectWithSubqueries(plan) { case sort: SortExec if sort.global => sort }.size

  /** As a cache, a checkpoint or a sink of Spark's first version of them asks for rows: not to be taken one partition after another. */
  private def asked(df: DataFrame): Seq[Row] = df.rdd.collect().toSeq

  for ((shape, query, expected) <- shapes; adaptive <- Seq(true, false))
    test(s"$shape, adaptive planning being $adaptive") {
      withSettings("spark.sql.adaptive.enabled" -> adaptive.toString) {
        val id = freshNode()
        val (plain, marked) = (query(identity), query(_.withE2ELatency(freshNode(), "ts")))
        val (before, plan) = (plain.queryExecution.executedPlan, marked.queryExecution.executedPlan)
        assert(tops(plan) === tops(before))
        if (expected.nonEmpty) assert(sorts(plan) === sorts(before), plan)
        assert(asked(marked) === asked(plain))
        run(query(_.withE2ELatency(id, "ts")))
        expected.foreach(assertAges(id, _))
      }
    }

  test("two marks by hints") {
    val (one, two) = (freshNode(), freshNode())
    sorted.createOrReplaceTempView("first_of_hints")
    val inner = s"SELECT /*+ E2E_LATENCY('$one', ts) */ * FROM first_of_hints"
    val marked = spark.sql(s"SELECT /*+ E2E_LATENCY('$two', ts) */ key, ts FROM ($inner) LIMIT 5")
    assert(tops(marked.queryExecution.executedPlan) === Seq(5 -> 0))
    run(marked)
    for (id <- Seq(one, two)) assertAges(id, ages(996 to 1000))
  }

  test("an ingestion timestamp, and one that is kept though nothing reads it") {
    val stamped = sorted.withIngestionTimestamp("read")
    assert(tops(stamped.limit(5).queryExecution.executedPlan) === Seq(5 -> 0))
    assert(asked(stamped.limit(5).drop("read")) === asked(sorted.limit(5)))
    withSettings(
      "spark.sparklatency.recording.level" -> "NONE",
      "spark.sparklatency.forceTimestampSupport" -> "true"
    ) {
      val kept = sorted.withE2ELatency("kept", "ts").select("id").limit(5)
      assert(tops(kept.queryExecution.executedPlan) === Seq(5 -> 0))
      assert(asked(kept) === asked(sorted.select("id").limit(5)))
    }
  }

  test("each batch of a stream that gives out its first rows") {
    val (input, name) = (stream, "first_rows")
    val counts = input.toDF().groupBy(unix_millis(col("value")) % 7).agg(max("value").as("last"))
    val first = counts.orderBy(col("last").desc).withE2ELatency("ranked", "last").limit(2)
    var written = Seq.empty[Long]
    val query = first.writeStream.queryName(name).outputMode("complete")
      .foreachBatch { (batch: DataFrame, _: Long) =>
        written = batch.collect().toSeq.map(Start - _.getTimestamp(1).getTime)
      }.start()
    try {
      input.addData(ago((1L to 40L): _*))
      processAll(query)
      assert(tops(Plans.executed(query)) === Seq(2 -> 0))
      assert((written, node("ranked", name).figures) === ((Seq(1, 2), (2, Some(1), Some(2)))))
    } finally query.stop()
  }

  test("more rows than Spark keeps in order in memory are sorted, as without a mark") {
    withSettings("spark.sql.execution.topKSortFallbackThreshold" -> "5") {
      for (limit <- Seq(4, 5)) {
        val marked = sorted.withE2ELatency(freshNode(), "ts").limit(limit)
        assert(tops(marked.queryExecution.executedPlan) === Seq(4 -> 0).filter(_ => limit == 4))
      }
    }
  }

  test(
    "a limit stands below a mark only where there is a global sort, and nothing that gives out other rows"
  ) {
    val others = Seq[DataFrame](
      mark(rows(10), freshNode()).limit(5),
      mark(rows(10).sortWithinPartitions("id"), freshNode()).limit(5),
      mark(sorted, freshNode()).select(explode(array(col("id"), col("key")))).limit(5)
    )
    for (df <- others) assert(tops(df.queryExecution.executedPlan) === Nil)
  }
}

private object FirstRowsSuite {
  type Mark = DataFrame => DataFrame
}
