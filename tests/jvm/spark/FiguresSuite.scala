package io.sparklatency.spark

import java.time.LocalDateTime

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.ObjectMapper
import io.sparklatency.figures.Measure
import io.sparklatency.figures.Metric
import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.ListenerBus

/** What a batch query's marks count, with exact figures. */
class FiguresSuite extends SparkTest {

  /** `count` rows in `partitions` partitions, with the timestamps 1, 2, … `count` milliseconds before the clock. */
  private def rows(count: Int, partitions: Int = 2): DataFrame =
    spark.range(1, count + 1L, 1, partitions).select(
      col("id"),
      timestamp_millis(lit(Start) - col("id")).as("ts")
    )

  test("every record counts, and percentiles come from all of them") {
    val id = freshNode()
    run(rows(10000).withE2ELatency(id, "ts"))
    val figures = node(id)
    assert((
      figures.records,
      figures.min,
      figures.avg,
      figures.max
    ) === ((10000, Some(1), Some(5000.5), Some(10000))))
    for ((field, exact) <- Seq("p50" -> 5000, "p90" -> 9000, "p99" -> 9900, "p999" -> 9990))
      assert(figures.long(field).exists(p => p >= exact && p <= exact * 1.01), s"$field in $figures")
  }

  test("null, pre-epoch and future timestamps are counted as such") {
    val id = freshNode()
    val micros = when(
      col("id") === 1,
      lit(null)
    ).when(col("id") === 2, lit(-1L)).when(col("id") === 3, lit((Start + 700) * 1000))
      .otherwise(lit((Start - 5) * 1000))
    run(spark.range(0, 10, 1, 2).withColumn(
      "ts",
      timestamp_micros(micros.cast("long"))
    ).withE2ELatency(id, "ts"))
    val figures = node(id)
    assert((
      figures.records,
      figures.long("withoutTimestamp"),
      figures.long("aheadOfClock")
    ) === ((10, Some(2), Some(1))))
    assert((figures.min, figures.max, figures.long("maxLead")) === ((Some(-700), Some(5), Some(700))))
  }

  test("a TIMESTAMP_NTZ is read in the session's time zone") {
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try {
      val id = freshNode()
      val local = LocalDateTime.ofEpochSecond(0, 0, java.time.ZoneOffset.UTC).minusHours(5)
      run(spark.range(1).select(lit(local).as("ts")).withE2ELatency(id, "ts"))
      assert(node(id).min === Some(Start))
    } finally spark.conf.set("spark.sql.session.timeZone", "UTC")
  }

  test("the timestamp of a window is its end") {
    val id = freshNode()
    run(rows(10, 1).groupBy(window(col("ts"), "1 second")).count().withE2ELatency(id, "window"))
    // Timestamps lie between 999.990 and 999.999 s: one window, which ends at 1000 s, now.
    assert((node(id).records, node(id).min) === ((1, Some(0))))
  }

  test("a timestamp can be computed from columns") {
    val id = freshNode()
    run(rows(1).withE2ELatency(id, col("ts") - expr("INTERVAL 1 SECOND")))
    assert(node(id).min === Some(1001))
  }

  test("without a record everything but the counts is unknown") {
    val id = freshNode()
    run(rows(10).filter(col("id") > 100).withE2ELatency(id, "ts"))
    val figures = node(id)
    assert(figures.records === 0)
    assert(Seq("min", "avg", "p50", "p99", "max", "maxLead").forall(figures.long(_).isEmpty))
    assert(gauges(s"query.__batch__.node.$id.record-e2e-latency-max").asInstanceOf[Double].isNaN)
    assert(gauges(s"query.__batch__.node.$id.records") === 0L)
  }

  test("figures are forgotten after a minute of silence, counts are not") {
    val id = freshNode()
    run(rows(10).withE2ELatency(id, "ts"))
    clock.advance(59999)
    assert(node(id).max === Some(10))
    clock.advance(1)
    assert((node(id).max, node(id).records) === ((None, 10)))
  }

  test("the sampling job of a sort counts nothing twice") {
    val id = freshNode()
    run(rows(1000, partitions = 4).withE2ELatency(id, "ts").orderBy(col("id").desc))
    assert(node(id).records === 1000)
  }

  test("a second action on the same plan counts nothing twice") {
    val id = freshNode()
    val marked = rows(100).withE2ELatency(id, "ts")
    marked.collect()
    marked.collect()
    assert(node(id).records === 100)
  }

  test("an action begins when it is run, though its DataFrame was made before, and has run before") {
    byTheWall {
      val marked = rows(10).withE2ELatency(freshNode(), "ts")
      (1 to 2).foreach(_ => marked.collect())
      ListenerBus.awaitEmpty(spark.sparkContext)
      val batches = new ObjectMapper().readTree(PythonApi.historyJson(spark, "__batch__", 2)).get("batches")
      val Seq(first, second) = batches.elements.asScala.toSeq: @unchecked
      def at(batch: JsonNode, field: String) = batch.get(field).asLong
      assert(at(first, "start") <= at(first, "committed"))
      assert(at(first, "committed") <= at(second, "start") && at(second, "start") <= at(second, "committed"))
    }
  }

  test("an action of several jobs counts what each of them read") {
    val id = freshNode()
    assert(rows(100, partitions = 8).withE2ELatency(id, "ts").filter(col("id") > 90).take(5).length === 5)
    // The jobs read partition after partition and stop at the fifth row found, which is the 95th.
    assert(node(id).records === 95)
  }

  test("an execution that fails leaves no figures, and the next one counts whole") {
    val id = freshNode()
    val failing = udf((id: Long) => if (id == 7) throw new IllegalStateException("on purpose") else id)
    assertThrows[Exception](run(rows(10).withE2ELatency(id, "ts").withColumn("x", failing(col("id")))))
    assert(findNode(id).isEmpty)
    run(rows(10).withE2ELatency(id, "ts"))
    assert(node(id).records === 10)
  }

  test("a cached DataFrame is counted when it is filled, not when it is read") {
    val id = freshNode()
    val cached = rows(100).withE2ELatency(id, "ts").cache()
    try {
      cached.count()
      cached.count()
      cached.filter(col("id") > 5).collect()
      assert(node(id).records === 100)
    } finally cached.unpersist()
  }

  test("marks in the two sides of a join, and in a scalar subquery") {
    val (left, right, inner) = (freshNode(), freshNode(), freshNode())
    rows(10).withE2ELatency(inner, "ts").createOrReplaceTempView("inner_rows")
    val joined = rows(100).withE2ELatency(left, "ts").join(rows(50).withE2ELatency(right, "ts"), "id")
      .filter(expr("id <= (SELECT max(id) FROM inner_rows)"))
    assert(joined.count() === 10)
    assert(Seq(left, right, inner).map(node(_).records) === Seq(100, 50, 10))
  }

  test("the sides of a cartesian product count once, although every task reads them again") {
    val (left, right) = (freshNode(), freshNode())
    assert(rows(
      10,
      3
    ).withE2ELatency(left, "ts").crossJoin(rows(4).hint("SHUFFLE_REPLICATE_NL").withE2ELatency(right, "ts"))
      .count() === 40)
    assert(Seq(left, right).map(node(_).records) === Seq(10, 4))
  }

  test("one marked DataFrame in both sides of a join counts once") {
    val id = freshNode()
    val marked = rows(10).withE2ELatency(id, "ts")
    val other = marked.withColumnRenamed("ts", "other").filter(col("id") > 5)
    assert(marked.join(other, "id").count() === 5)
    assert(node(id).records === 10)
  }

  test("gauges carry Kafka's names, one of each for a node") {
    val id = freshNode()
    run(rows(4).withE2ELatency(id, "ts"))
    val own = gauges.collect {
      case (name, value) if name.startsWith(s"query.__batch__.node.$id.") => name.split('.').last -> value
    }
    assert(own("record-e2e-latency-min") === 1.0 && own("record-e2e-latency-max") === 4.0)
    assert(own("record-e2e-latency-avg") === 2.5 && own("records") === 4L)
    // It is the last of its query, and so has those of the commit latency too.
    assert(own.size === Seq(Measure.E2ELatency, Measure.Commit).map(Metric.of(_).size).sum +
      Metric.ofOperators.size)
  }
}
