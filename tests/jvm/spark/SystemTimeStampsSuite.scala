package io.sparklatency.spark

import java.sql.Timestamp

import io.sparklatency.spark.Lines.MemoryStream
import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._

/** Ingestion timestamps as the event time of system-time watermarks without a lag. */
class SystemTimeStampsSuite extends SystemTimeTest {
  private def stamped(input: MemoryStream[Timestamp], name: String): DataFrame =
    input.toDF().withIngestionTimestamp(name).withSystemTimeWatermark(name, "0 seconds")

  private def droppedLate(it: Running): Long =
    it.query.recentProgress.flatMap(_.stateOperators).map(_.numRowsDroppedByWatermark).sum

  test("no record is late, for each has its own stamp") {
    val input = stream
    val df = stamped(input, "read")
    running(df.groupBy(window(col("read"), "1 second")).count().select(seconds("window.end"), col("count"))) {
      it =>
        for (second <- 1 to 4) {
          it.comesTo(second)
          it.reads(input, 0)
        }
        it.comesTo(5)
        it.comesTo(6)
        assert(it.rows === Seq(Seq(2.0, 1), Seq(3.0, 1), Seq(4.0, 1), Seq(5.0, 1)))
        assert(droppedLate(it) === 0)
    }
  }

  test(
    "Hazelcast C10: an event that was stamped at 41 is not overtaken, and one at 40 takes the watermark nowhere back"
  ) {
    val input = stream
    val counts = stamped(input, "read").groupBy("read").count().select(seconds("read"), col("count"))
    running(counts, "update") { it =>
      it.comesTo(41)
      it.reads(input, 0)
      assert(it.watermark === 41.0)
      assert(it.rows === Seq(Seq(41.0, 1)))
      assert(droppedLate(it) === 0)
      it.comesTo(40)
      it.reads(input, 0)
      assert(it.watermark === 41.0)
      assert(droppedLate(it) === 1) // the clock was set back
    }
  }

  test(
    "Hazelcast C13 by the clock: a window of a millisecond is given out within a second of its end, however sparse records are"
  ) {
    val input = stream
    val counts = stamped(input, "read").groupBy(window(col("read"), "1 millisecond")).count()
    running(counts.select(seconds("window.end"), col("count"))) { it =>
      for ((minute, i) <- Seq(0, 2, 4, 6).zipWithIndex) {
        it.comesTo(minute * 60)
        it.reads(input, 0)
        it.comesTo(minute * 60 + 1)
        assert(it.rows.lastOption === Some(Seq(minute * 60 + 0.001, 1)))
        assert(it.rows.size === i + 1)
      }
    }
  }

  test("if the clock is set back by 500 s, all that is stamped until it has caught up is dropped as late") {
    val input = stream
    running(stamped(input, "read").dropDuplicates("value", "read").select(seconds("value"))) { it =>
      it.comesTo(1000)
      it.reads(input, 1, 2, 3)
      assert(droppedLate(it) === 0)
      it.comesTo(500)
      it.reads(input, 4, 5, 6, 7)
      assert(droppedLate(it) === 4)
      it.comesTo(999)
      it.reads(input, 8)
      assert(droppedLate(it) === 5)
      it.comesTo(1000.001)
      it.reads(input, 9)
      assert(droppedLate(it) === 5)
      assert(it.rows.flatten.toSet === Set(1.0, 2.0, 3.0, 9.0))
      assert(it.watermark === 1000.0)
    }
  }

  test("a join of two streams by their stamps gives out what found no match") {
    val (left, right) = (stream, stream)
    val joined = stamped(left, "l").as("a").join(
      stamped(right, "r").as("b"),
      expr("a.value = b.value AND r BETWEEN l AND l + INTERVAL 5 SECONDS"),
      "left_outer"
    ).select(seconds("a.value"), seconds("l"), seconds("r"))
    running(joined) { it =>
      it.reads(left, 1, 2)
      it.comesTo(4)
      clock.setMicros(Start * 1000 + 4000001) // past the watermark of the batch before
      it.reads(right, 1)
      assert(it.rows === Seq(Seq(1.0, 0.0, 4.0)))
      it.comesTo(7)
      it.comesTo(8)
      assert(it.rows === Seq(Seq(1.0, 0.0, 4.0), Seq[Any](2.0, 0.0, null)))
    }
  }

  test("dropDuplicatesWithinWatermark lets the same value pass again when the clock is past it") {
    val input = stream
    running(stamped(input, "read").dropDuplicatesWithinWatermark("value").select(seconds("value"))) { it =>
      it.comesTo(10)
      it.reads(input, 1, 1)
      assert(it.rows === Seq(Seq(1.0)))
      assert(it.kept === 0) // with no lag it is forgotten as soon as the clock has passed its stamp
      it.comesTo(11)
      clock.setMicros(Start * 1000 + 11000001)
      it.reads(input, 1)
      assert(it.rows === Seq(Seq(1.0), Seq(1.0)))
      assert(droppedLate(it) === 0)
    }
  }
}
