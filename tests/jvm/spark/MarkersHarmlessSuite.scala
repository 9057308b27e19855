package io.sparklatency.spark

import java.lang.ref.WeakReference

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.latency.JobsOf
import org.apache.spark.sql.latency.Plans
import org.apache.spark.sql.latency.TemporaryFolder
import org.apache.spark.sql.streaming.StreamingQueryException
import org.apache.spark.sql.streaming.Trigger

/** What latency markers cannot do to a query: keep it from ending, add work to it, outlive it, or stop after it failed. */
class MarkersHarmlessSuite extends MarkersTest {

  test(
    "a query that failed within a batch has gauges that move again when it goes on, and counts that are exact"
  ) {
    withSettings(on: _*) {
      val checkpoint = TemporaryFolder("checkpoint").toString
      val input = stream
      var fails = false
      def begun() =
        marked(input).writeStream.queryName("markers_failover").option("checkpointLocation", checkpoint)
          .foreachBatch { (batch: DataFrame, _: Long) =>
            batch.collect()
            if (fails) {
              fails = false
              throw new IllegalStateException("once")
            }
          }.start()
      def shown = Seq("source.operator_subtask_index.0", "__commit__").map { operator =>
        gauges.get(s"query.markers_failover.latency.source_id.source.operator_id.$operator.latency-count")
      }
      def counted = (shown, queryOf("markers_failover").get("markers").get("count").asLong)
      def isShown(count: Long) = assert(counted === ((Seq(Some(count), Some(count)), count)))
      val first = begun()
      try {
        input.addData(ago(1))
        processAll(first)
        isShown(1)
        fails = true
        clock.advance(1000)
        input.addData(ago(1))
        assert(intercept[StreamingQueryException](processAll(first)).getMessage.contains("once"))
      } finally first.stop()
      assert(shown === Seq(None, None))
      val second = begun()
      try {
        processAll(second)
        isShown(1)
        clock.advance(1000)
        input.addData(ago(1))
        processAll(second)
        isShown(2)
      } finally second.stop()
    }
  }

  test("a query that ends by itself ends with them, after as many batches, stages and tasks as without") {
    def of(settings: Seq[(String, String)]) = withSettings(settings: _*) {
      val name = s"markers_${freshNode()}"
      val lines = spark.readStream.option("maxFilesPerTrigger", "1").text(texts)
      val jobs = JobsOf(spark.sparkContext) {
        val query =
          lines.groupBy("value").count().writeStream.queryName(name).format("noop").outputMode("complete")
            .trigger(Trigger.AvailableNow()).start()
        query.awaitTermination()
        assert(query.exception.isEmpty)
      }
      (jobs, queryOf(name).get("markers"))
    }
    val (plain, _) = of(Nil)
    val (marked, markers) = of(atEnds ++ on)
    // The interval has not passed at the second file.
    assert(markers.get("count").asLong === 1)
    assert(plain.batches === 2 && plain.stages >= 4 && plain.tasks > plain.stages)
    assert(marked === plain)
  }

  test("nothing keeps the plan of a query that was stopped") {
    def plan(): WeakReference[SparkPlan] = {
      val query = start(files.repartition(3), "markers_let_go")
      try {
        processAll(query)
        assert(queryOf("markers_let_go").get("markers").get("count").asLong > 0)
        val plan = Plans.executed(query)
        assert(Plans.marks(plan) === 2)
        new WeakReference(plan)
      } finally query.stop()
    }
    withSettings(atEnds ++ on: _*) {
      val held = plan()
      eventually {
        System.gc()
        assert(held.get === null)
      }
    }
  }
}
