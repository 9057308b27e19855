package io.sparklatency.spark

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.functions._

/** A query whose records are 100 ms old at its source, where it is told by `id`, and 400 ms at its sink. */
trait LatencyTabTest extends PagesTest {
  protected def withShop(name: String, id: String = "source")(check: (String, String) => Unit): Unit = {
    val input = stream
    val worked =
      watermarked(input).withE2ELatency(id).withColumn("worked", slow(300)(unix_millis(col("value"))))
    val query = start(worked.filter("worked > 0").withE2ELatency("sink", "value"), name)
    try {
      input.addData(ago(100))
      processAll(query)
      node("sink", name)
      check(query.runId.toString, get(s"/latency/query/?id=${query.runId}")._2)
    } finally query.stop()
  }
}
