package org.apache.spark.sql.latency.tracking

import java.util.Collections

import io.sparklatency.figures.Trigger
import org.apache.spark.sql.connector.read.streaming.ReadLimit
import org.apache.spark.sql.streaming.SourceProgress
import org.scalatest.funsuite.AnyFunSuite

/** What Kafka's source says of itself where it has both limits, and read no record. */
class SourceLimitSuite extends AnyFunSuite {
  private val both =
    SourceLimit(ReadLimit.compositeLimit(Array(ReadLimit.minRows(10, 60000), ReadLimit.maxRows(20))), "kafka")

  private def leaving(start: String, end: String): Option[Trigger.Limit] = {
    val progress =
      new SourceProgress("topic", start, end, "90", 0, 0, 0, Collections.emptyMap[String, String]())
    both.leaving(progress, BatchRead())
  }

  test("a source that has not gone on keeps what there is until there is more") {
    assert(leaving("40", "40") === Some(Trigger.Limit("minOffsetsPerTrigger", isCertain = true)))
  }

  test("one that has gone on through a hole keeps nothing, and its limit has left the rest") {
    assert(leaving("40", "60") === Some(Trigger.Limit("maxOffsetsPerTrigger", isCertain = true)))
  }

  test("one that has read all leaves nothing") {
    assert(leaving("70", "90") === None)
  }

  test("one that never says how far it goes is taken to leave some where it has read as many as it may") {
    def left(rows: Long): Option[Trigger.Limit] = {
      val untold =
        new SourceProgress("own", "40", "60", null, rows, 0, 0, Collections.emptyMap[String, String]())
      SourceLimit(ReadLimit.maxRows(20), "own").leaving(untold, BatchRead())
    }
    assert(left(20) === Some(Trigger.Limit("maxOffsetsPerTrigger", isCertain = false)))
    assert(left(19) === None)
  }
}
