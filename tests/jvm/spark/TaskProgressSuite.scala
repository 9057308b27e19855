package io.sparklatency.spark

import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit

import com.fasterxml.jackson.databind.JsonNode
import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame

/** Whether the tasks of a batch in progress get on. */
class TaskProgressSuite extends StreamingTest with Patient {

  test("a batch whose task has ended got on then, whatever its function has done since") {
    val (counted, mayEnd) = (new CountDownLatch(1), new CountDownLatch(1))
    val input = stream
    input.addData(ago(1))
    def progress: JsonNode = queryOf("got_on").get("progress")
    byTheWall {
      val query = input.toDF().withE2ELatency("read", "value").writeStream.queryName("got_on")
        .foreachBatch { (batch: DataFrame, _: Long) =>
          batch.sparkSession.sparkContext.setJobGroup("a group of its own", "")
          batch.count()
          counted.countDown()
          mayEnd.await()
        }.start()
      try {
        assert(counted.await(Patience.Seconds, TimeUnit.SECONDS), "the batch runs")
        val now = progress
        assert(now.get("sinceProgress").asLong < now.get("running").asLong, "it was planned before")
        assert(!now.get("stalled").asBoolean)
      } finally {
        mayEnd.countDown()
        query.stop()
      }
    }
  }
}
