package io.sparklatency.spark

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.latency.ApplicationSettings

/** How often batches carry latency markers, and how finely their figures are kept apart. */
class MarkerSettingsSuite extends MarkersTest {
  test("by source subtask there is a histogram for each pair of partitions, and `single` knows no source") {
    def of(granularity: String) =
      withSettings((on ++ byFile :+ ("spark.sparklatency.markers.granularity" -> granularity)): _*) {
        ran(files.withE2ELatency("read").repartition(2).withE2ELatency("end"))(markers(_).keySet)
      }
    val (single, subtask) = (of("single"), of("subtask"))
    assert(
      single.contains("end 0") && single.contains("__commit__") && !single.exists(_.startsWith("read read"))
    )
    assert(Set(
      "read 0 read 0",
      "read 0 end 0",
      "read 1 end 0",
      "read 1 end 1",
      "read 1 __commit__"
    ).subsetOf(subtask))
  }

  test(
    "without the setting, and with 0, there are no markers, and a node needs a timestamp"
  ) {
    withSettings(atEnds: _*) {
      ran(files) { query =>
        assert(nodesOf(query) === Nil)
      }
      ran(files.withIngestionTimestamp("at").withE2ELatency("by hand", "at"))(query =>
        assert(queryOf(query).get("markers").isNull)
      )
      val refused = intercept[IllegalArgumentException](files.withE2ELatency("parsed"))
      assert(refused.getMessage.contains("no timestamp was given"))
    }
    withSettings(atEnds :+ ("spark.sparklatency.markers.interval" -> "0"): _*) {
      ran(files)(query => assert(nodesOf(query) === Nil))
    }
  }

  test("D1: a session's setting is above the application's, whichever of the two has markers on") {
    def marked(application: String, session: Option[String]): Boolean = {
      val own = ApplicationSettings.session(
        spark,
        interval -> application,
        "spark.sparklatency.auto" -> "source,terminal"
      )
      session.foreach(own.conf.set(interval, _))
      ran(files(own))(query => nodesOf(query).nonEmpty && !queryOf(query).get("markers").isNull)
    }
    assert(marked(application = "1s", session = None))
    assert(!marked(application = "1s", session = Some("0")))
    assert(!marked(application = "0", session = None))
    assert(marked(application = "0", session = Some("1s")))
  }

  test("the interval counts from the batch that carried the last marker, by the clock") {
    withSettings(on: _*) {
      val input = stream
      val query = start(marked(input), "markers_interval")
      try {
        val counts = Seq(0L, 999L, 1L, 500L, 600L).map { ms =>
          clock.advance(ms)
          input.addData(ago(1))
          processAll(query)
          queryOf("markers_interval").get("markers").get("count").asLong
        }
        assert(counts === Seq(counts.head, counts.head, counts.head * 2, counts.head * 2, counts.head * 3))
      } finally query.stop()
    }
  }
}
