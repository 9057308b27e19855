package org.apache.spark.sql.latency.tracking

import org.apache.spark.sql.streaming.Trigger
import org.scalatest.funsuite.AnyFunSuite

/** When an epoch of continuous mode is so late that its query hangs. In Spark's package for what only ours may call. */
class LateEpochSuite extends AnyFunSuite {
  private val Last = "Committing epoch 11"

  private def of(
      newest: Long,
      runsMs: Long,
      doing: String = Last,
      trigger: Trigger = Trigger.Continuous("1 second")
  ) = LateEpoch.of(trigger, doing, newest, runsMs)

  test("an epoch is late that has ended more than half a minute ago, and that Spark has not come to commit") {
    assert(of(43, 0) === None)
    assert(of(43, 1) === Some(LateEpoch(11, 31001)))
    assert((of(44, 0).get.epoch, of(44, 0).get.text) === ((
      12,
      "Spark has not got beyond the commit of epoch 11"
    )))
  }

  test(
    "a long epoch is late half a minute after its end, and where Spark hangs in a commit, in which it begins no other"
  ) {
    def ofMinutes(newest: Long, runsMs: Long) = of(newest, runsMs, trigger = Trigger.Continuous("1 minute"))
    assert(ofMinutes(13, 30000) === None)
    assert(ofMinutes(13, 30001) === Some(LateEpoch(11, 90001)))
    assert(ofMinutes(12, 60000) === None) // the twelfth ends
    assert(ofMinutes(12, 90001) === Some(LateEpoch(11, 90001)))
  }

  test("nobody knows before the first commit, nor when the query has stopped or has another trigger") {
    for (doing <- Seq("Initializing sources", "Stopped", "")) assert(of(44, 0, doing) === None)
    assert(of(44, 0, trigger = Trigger.ProcessingTime("1 second")) === None)
  }
}
