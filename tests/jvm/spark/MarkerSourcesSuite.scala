package io.sparklatency.spark

import io.sparklatency.spark.Lines.LowLatencyMemoryStream
import io.sparklatency.spark.Lines.MemoryStream
import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.Encoders
import org.apache.spark.sql.functions._
import org.apache.spark.sql.streaming.Trigger

/** Latency markers of sources of every kind, and of modes where no batch ends. */
class MarkerSourcesSuite extends MarkersTest {
  test("no kind of source forgets to mark: files, sockets, memory and rates of both kinds") {
    val server = listening()
    def socket =
      spark.readStream.format("socket").option("host", "127.0.0.1").option("port", server.getLocalPort.toLong)
    def rates = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", "10")
    val memory = MemoryStream[Int](spark)(Encoders.scalaInt)
    memory.addData(1)
    val kinds = Seq[(String, () => DataFrame)](
      "file" -> (() => line),
      "text-socket" -> (() => socket.load()),
      "memory" -> (() => memory.toDF()),
      "rate-micro-batch" -> (() => rates.load().select("value")),
      "rate" -> (() => spark.readStream.format("rate").option("rowsPerSecond", "50").load().select("value"))
    )
    try withSettings(atEnds ++ on: _*) {
        for ((kind, source) <- kinds) {
          val name = s"markers_of_$kind"
          // A source that always has rows leaves the queue of events no rest.
          val query = source().writeStream.queryName(name).format("noop")
            .trigger(Trigger.ProcessingTime("1 second")).start()
          try {
            if (kind == "text-socket") {
              val line = server.accept().getOutputStream
              line.write("a line\n".getBytes)
              line.flush()
            }
            eventually {
              val found = markers(name).keySet
              assert(
                found.exists(_.matches(s"source-0-$kind(\\[.*\\])? __commit__")),
                found
              )
            }
          } finally query.stop()
        }
      }
    finally server.close()
  }

  test(
    "in real-time mode a second tells how long its rows took, before the first batch has ended, and without a timestamp"
  ) {
    withSettings(on: _*)(byTheWall {
      val input = LowLatencyMemoryStream[Int](spark, 1)(Encoders.scalaInt)
      val step = udf { (_: Int) => Thread.sleep(50); true }.asNondeterministic()
      val found = input.toDF().withE2ELatency("read").filter(step(col("value"))).withE2ELatency("found")
      val query = startInRealTime(found, "markers_real_time")
      try {
        eventually {
          input.addData(1)
          // One second may be like no other, where the thread that looks was kept from it: of many one is as it should be.
          assert(lastMarkers("markers_real_time")("read found 0")._2.exists(ms => ms >= 25 && ms <= 500))
        }
        assert(query.lastProgress === null)
      } finally query.stop()
    })
  }

  test("in continuous mode a second tells how long its rows took, to automatic nodes") {
    withSettings(atEnds ++ on: _*)(byTheWall {
      val step = udf { (value: Long) => Thread.sleep(20); value }.asNondeterministic()
      val rate = rateSource(perSecond = 20, partitions = 1)
      val query =
        rate.select(step(col("value")).as("value")).writeStream.queryName("markers_continuous").format("noop")
          .trigger(Trigger.Continuous("1 hour")).start()
      try eventually {
          val found = lastMarkers("markers_continuous")
          assert(found("source-0-rate sink 0")._2.exists(ms => ms >= 10 && ms <= 500), found)
        }
      finally query.stop()
    })
  }
}
