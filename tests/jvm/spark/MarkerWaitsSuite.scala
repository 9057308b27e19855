package io.sparklatency.spark

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.functions._

/** What latency markers count that Flink's leave out: rows that an operator gathers, and the wait for a slot. */
class MarkerWaitsSuite extends MarkersTest {

  test("the work below a sort is in the markers of the node behind it, for all of its rows") {
    // A sort of a stream gathers rows only where a batch has them all.
    withSettings(on :+ ("spark.sql.shuffle.partitions" -> "1"): _*) {
      val counts =
        spark.readStream.text(written(lines = 3, files = 1)).withE2ELatency("read").groupBy("value").count()
      val sorted = counts.withColumn("x", slow(20)(col("count"))).sortWithinPartitions("x", "value")
      ran(sorted.withE2ELatency("sorted"), "complete") { query =>
        val found = markers(query)
        assert(found("read read 0") === ((1, Some(0), Some(0))))
        assert(found("read sorted 0") === ((1, Some(60), Some(60))))
        assert(found("read __commit__") === ((1, Some(60), Some(60))))
      }
    }
  }

  test("of more partitions than slots the last has waited for the others, and its marker with it") {
    withSettings(on: _*) {
      val read = spark.readStream.text(written(lines = 6, files = 1)).withE2ELatency("read")
      val worked = read.repartition(6).withColumn("x", blocking(20)).withE2ELatency("worked")
      ran(worked) { query =>
        val found = markers(query)
        val latest = (0 to 5).map(partition => found(s"read worked $partition")._3.get)
        assert(found("read read 0") === ((1, Some(0), Some(0))))
        // One row of 20 ms in each of six partitions, two at a time by one clock: the last has waited for four of them at least.
        assert(latest.max === 120 && latest.min >= 20 && latest.min <= 40)
        assert(found("read __commit__") === ((1, Some(120), Some(120))))
      }
    }
  }
}
