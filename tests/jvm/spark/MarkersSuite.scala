package io.sparklatency.spark

import scala.jdk.CollectionConverters._

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.Plans

/** Latency markers of streaming queries over files: what they tell, where, and what they leave alone. */
class MarkersSuite extends MarkersTest {
  test("a query over files without a timestamp has nodes, an answer and markers; a step of 20 ms is in them") {
    withSettings(atEnds ++ on: _*) {
      ran(line.withColumn("x", blocking(20))) { query =>
        assert(markers(query)(s"$source sink 0") === ((1, Some(20), Some(20))))
        assert(markers(query)(s"$source __commit__") === ((1, Some(20), Some(20))))
        assert(markers(query)(s"$source $source 0")._1 === 1)
        val json = queryOf(query)
        assert(nodesOf(query) === Seq(source, "sink"))
        assert(node("sink", query).long("withoutTimestamp") === Some(1) && node("sink", query).max === None)
        assert(json.get("markers").get("text").asText ===
          s"Latency markers take 20 ms from $source to the commit, on average. At most one batch in 1 s carries them.")
        val levels = json.get("notes").elements.asScala.map(note =>
          note.get("code").asText -> note.get("level").asText
        )
        assert(levels.toSet.contains("no-timestamp" -> "info"), "a node needs no timestamp here")
        val page = fetched(s"/latency/query/?id=$query")
        assert(page.contains("id=\"latency-markers\"") && page.contains("Latency markers take 20 ms"))
        assert(fetched("/api/v1/latency/prometheus").contains("sparklatency_marker_latency_seconds_count{"))
      }
    }
  }

  test("the step that takes the time is named, by what operators did") {
    withSettings(atEnds ++ on ++ byFile: _*)(byTheWall {
      // Five seconds of each task: more than a busy machine takes to commit.
      val step = udf { (value: String) => Thread.sleep(500); value }.asNondeterministic()
      val parsed =
        files.withE2ELatency("read").withColumn("value", step(col("value"))).filter(length(col("value")) > 0)
      ran(parsed.withE2ELatency("parsed").filter("value <> 'x'")) { query =>
        val headline = queryOf(query).get("headline")
        assert((headline.get("code").asText, headline.get("node").asText) === (("slowest-step", "parsed")))
        assert(headline.get("text").asText.startsWith("Slowest step: parsed, "))
        assert(queryOf(query).get("slowestStep").asText === "parsed")
      }
    })
  }

  test(
    "each partition of each node has markers, an empty one too, and behind a shuffle those of all sources' partitions"
  ) {
    withSettings(on ++ byFile: _*) {
      val rows =
        files.withE2ELatency("read").filter("value = 'none'").groupBy("value").count().withE2ELatency("end")
      ran(rows, "complete") { query =>
        val found = markers(query)
        val sources = found.keys.filter(_.startsWith("read read ")).size
        assert(sources > 1)
        for (partition <- 0 to 1) assert(found(s"read end $partition")._1 === sources)
        assert(found("read __commit__")._1 === sources)
      }
    }
  }

  test("rows and plan are those without markers, where nodes are; no column comes in for them") {
    def of(settings: Seq[(String, String)]) = withSettings(settings: _*) {
      val name = s"markers_${freshNode()}".replace('-', '_') // a table's
      val query = files.select(col("value"), length(col("value")).as("n")).repartition(3, col("n"))
        .writeStream.format("memory").queryName(name).outputMode("append").start()
      try {
        processAll(query)
        (spark.table(name).collect().map(_.toString).sorted.toSeq, Plans.executed(query))
      } finally query.stop()
    }
    val (rows, plan) = of(Nil)
    val (marked, withMarks) = of(atEnds ++ on)
    assert(rows.size === 20 && marked === rows)
    assert(Plans.marks(withMarks) > 0 && Plans.withoutMarks(withMarks) === Plans.withoutMarks(plan))
  }

  test("the id of the commit is no node's") {
    val refused = intercept[IllegalArgumentException](stream.toDF().withE2ELatency("__commit__", "value"))
    assert(refused.getMessage.contains("__commit__"))
  }
}
