package org.apache.spark.sql.latency

import io.sparklatency.spark.StreamingTest
import org.apache.spark.sql.latency.planning.CurrentQuery

/** Whose a batch is. In Spark's own package for its batches. */
class CurrentQuerySuite extends StreamingTest {
  test("a batch is of the run that ran it, and not of the next one of its query") {
    val checkpoint = Some(TemporaryFolder("checkpoint").toString)
    val input = stream
    def ran = {
      val query = start(input.toDF(), freshNode(), "append", checkpoint)
      input.addData(ago(1))
      processAll(query)
      (query, Plans.batch(query))
    }
    val (first, batch) = ran
    assert(CurrentQuery.ran(batch).map(_.runId) === Some(first.runId))
    first.stop()
    val (next, later) = ran
    try {
      assert(next.id === first.id)
      assert(CurrentQuery.ran(batch) === None)
      assert(CurrentQuery.ran(later).map(_.runId) === Some(next.runId))
    } finally next.stop()
  }
}
