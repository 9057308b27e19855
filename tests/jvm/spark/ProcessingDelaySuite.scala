package io.sparklatency.spark

import scala.util.Random

import com.fasterxml.jackson.databind.JsonNode
import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._

/** How much time passes between two nodes of one path. */
class ProcessingDelaySuite extends StreamingTest {

  private def delay(query: String, from: String, to: String, over: String = "window"): JsonNode = {
    val nodes =
      queryOf(query).get("nodes")
    val node = (0 until nodes.size).map(nodes.get).find(_.get("node").asText == to).get
    node.get("delays").path(from).path(over)
  }

  private def work(ms: Long)(df: DataFrame): DataFrame =
    df.withColumn("done", slow(ms)(col("value").cast("long"))).filter("done IS NOT NULL").drop("done")

  test("of the same records the delay is the time that the work between two nodes takes") {
    val input = stream
    val one = work(30)(marked(input)).withE2ELatency("one", "value")
    val query = start(work(5)(one).withE2ELatency("two", "value"), "delays")
    try {
      input.addData(ago(0))
      processAll(query)
      for (over <- Seq("window", "batch"))
        for ((from, to, ms) <- Seq(("source", "one", 30), ("one", "two", 5), ("source", "two", 35))) {
          val found = delay("delays", from, to, over)
          for (statistic <- Seq("min", "avg", "p50", "p99", "max"))
            assert(found.get(statistic).asDouble === ms, (from, to, over))
          assert(found.get("sameRecords").asBoolean)
        }
      assert(delay("delays", "two", "one").isMissingNode, "there is no way back")
    } finally query.stop()
  }

  test("the batch's own delay is that of the last batch, the window's that of all") {
    val input = stream
    val query = start(work(10)(marked(input)).withE2ELatency("worked", "value"), "batch_delays")
    try {
      for (_ <- 1 to 2) {
        input.addData(ago(0, 0))
        processAll(query)
      }
      // The second row of a batch waits for the first one's work at either node.
      assert(delay("batch_delays", "source", "worked").get("avg").asDouble === 10)
      assert(delay("batch_delays", "source", "worked", "batch").get("avg").asDouble === 10)
    } finally query.stop()
  }

  test("where records were dropped on the way the comparison says that it is one of different records") {
    val input = stream
    val kept = marked(input).filter(col("value") > lit(new java.sql.Timestamp(Start - 100)))
    val query = start(kept.withE2ELatency("kept", "value"), "dropped_delays")
    try {
      input.addData(ago(10, 1000))
      processAll(query)
      val found = delay("dropped_delays", "source", "kept")
      assert(!found.get("sameRecords").asBoolean && found.get("avg").asDouble === -495)
      for (of <- Seq("min", "p50", "p99", "max"))
        assert(found.get(of).isNull, "of different records only means are compared")
    } finally query.stop()
  }

  for (seed <- 1 to 8)
    test(s"on the way through a random pipeline no record grows younger, seed $seed") {
      val random = new Random(seed)
      def step(df: DataFrame): DataFrame = random.nextInt(5) match {
        case 0 => work(random.nextInt(20).toLong)(df)
        case 1 => df.repartition(1 + random.nextInt(3))
        case 2 => df.sortWithinPartitions(col("value").desc)
        case 3 => df.withColumn("other", col("value").cast("long") + 1).drop("other")
        case 4 => df.union(df.limit(0))
      }
      val length = 3 + random.nextInt(4)
      val input = spark.range(
        1,
        20,
        1,
        2
      ).select((timestamp_millis(lit(Start) - col("id") * random.nextInt(500))).as("value"))
      val ids = (0 to length).map(_ => freshNode())
      val marked = ids.tail.foldLeft(input.withE2ELatency(ids.head, "value"))((df, id) =>
        step(df).withE2ELatency(id, "value")
      )
      run(marked)
      val figures = ids.map(node(_))
      for ((upstream, downstream) <- figures.zip(figures.tail)) {
        assert(downstream.records === upstream.records)
        for (statistic <- Seq("min", "p50", "p90", "p99", "max"))
          assert(
            downstream.long(statistic).get >= upstream.long(statistic).get,
            s"$statistic after $upstream"
          )
        assert(downstream.avg.get >= upstream.avg.get)
      }
    }
}
