package io.sparklatency.spark

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.functions._

/** By which column each node goes, on every surface. What Python and the terminal show is made of the same. */
class ChosenTimestampsSuite extends PagesTest {

  test(
    "the column that a node goes by is told on the tab, in SQL and over REST, of nodes by hand and of automatic ones"
  ) {
    withSettings(atEnds: _*) {
      val input = stream
      val renamed = watermarked(input).withE2ELatency("by hand", col("value") + expr("INTERVAL 1 SECOND"))
        .select(col("value").as("happened"), lit(1).as("one")).repartition(2)
      val query = start(renamed, "chosen")
      try {
        input.addData(ago(5000))
        processAll(query)
        val chosen = Seq("by hand" -> "value + INTERVAL '01' SECOND", "sink" -> "happened")
        assert(nodesOf("chosen").map(id => id -> node(id, "chosen").text("timestamp").get) === chosen)
        val cells = rows(table(get("/latency/query/?id=chosen")._2, "latency-nodes"))
        assert(cells.map(row => row("Node") -> row("Timestamp")) === chosen)
        val columns = spark.sql("SELECT node, timestamp FROM e2e_latency() WHERE query = 'chosen'").collect()
        assert(columns.map(row => row.getString(0) -> row.getString(1)).toSeq === chosen)
      } finally query.stop()
      val other = stream
      val automatic =
        start(watermarked(other).groupBy(window(col("value"), "1 second")).count(), "chosen_alone", "update")
      try {
        other.addData(ago(5000))
        processAll(automatic)
        val chosen = Seq("source-0-memory" -> "value", "sink" -> "window.end")
        val cells = rows(table(get("/latency/query/?id=chosen_alone")._2, "latency-nodes"))
        assert(nodesOf("chosen_alone").map(id =>
          id -> node(id, "chosen_alone").text("timestamp").get
        ) === chosen)
        assert(cells.map(row => row("Node") -> row("Timestamp")) === chosen)
        val columns =
          spark.sql("SELECT node, timestamp FROM e2e_latency() WHERE query = 'chosen_alone'").collect()
        assert(columns.map(row => row.getString(0) -> row.getString(1)).toSeq === chosen)
      } finally automatic.stop()
    }
  }

  test("a node without a timestamp, as markers allow it, goes by no column, beside one that does") {
    withSettings(
      "spark.sparklatency.auto" -> "source,terminal",
      "spark.sparklatency.markers.interval" -> "1s"
    ) {
      val input = stream
      val query = start(watermarked(input).select(lit(1).as("one")).repartition(2), "chosen_none")
      try {
        input.addData(ago(5))
        processAll(query)
        assert(node("sink", "chosen_none").text("timestamp") === None)
        val cells = rows(table(get("/latency/query/?id=chosen_none")._2, "latency-nodes"))
        assert(cells.map(row => row("Node") -> row("Timestamp")) === Seq(
          "source-0-memory" -> "value",
          "sink" -> "–"
        ))
      } finally query.stop()
    }
  }
}
