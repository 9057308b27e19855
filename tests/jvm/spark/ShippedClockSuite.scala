package io.sparklatency.spark

import java.sql.Timestamp
import java.util.concurrent.atomic.AtomicLong

import io.sparklatency.spark.Lines.LowLatencyMemoryStream
import io.sparklatency.spark.syntax._
import io.sparklatency.time.Clock
import io.sparklatency.time.Ticks
import io.sparklatency.time.WallClock
import org.apache.spark.TaskContext
import org.apache.spark.sql.functions._
import org.apache.spark.sql.streaming.Trigger

/** The clock as it ships, one of whose readings serves for many rows. All other suites read theirs for every row. */
class ShippedClockSuite extends StreamingTest with Patient {
  import ShippedClockSuite._

  test("a record that comes after a pause is as old as it is, in the middle of a run of fast ones") {
    WallClock.reset()
    val (id, stamp) = (freshNode(), udf(stampAfterPauses _).asNondeterministic())
    val rows = spark.range(0, 2000, 1, 1).select(timestamp_millis(stamp(col("id"))).as("ts"))
    run(rows.withE2ELatency(id, "ts"))
    assert((node(id).records, node(id).min.exists(_ >= 1000)) === ((2000, true)), node(id))
  }

  /** Counts how often tasks read a clock that does not ask to be read for every row. */
  private def countedReadings(): AtomicLong = {
    val readings = new AtomicLong
    WallClock.install(new Clock {
      override def readEveryRow: Boolean = false
      override def millis(): Long = {
        if (TaskContext.get() != null) readings.incrementAndGet()
        Start
      }
    })
    readings
  }

  test("in continuous mode the clock is read for each record") {
    val readings = countedReadings()
    withSettings("spark.sql.streaming.unsupportedOperationCheck" -> "false") {
      val rate = rateSource(perSecond = 20, partitions = 1)
      val many =
        rate.select(timestamp_millis(lit(Start - 7)).as("at")).as[Timestamp]
          .flatMap((one: Timestamp) => Seq.fill(Many)(one))
      val query = many.withE2ELatency("node", "value").writeStream.queryName("each_of_continuous")
        .format("noop").trigger(Trigger.Continuous("1 second")).start()
      try {
        eventually(assert(findNode("node", "each_of_continuous").exists(_.records >= 2 * Many)))
        val records = node("node", "each_of_continuous").records
        assert(readings.get >= records)
      } finally query.stop()
    }
  }

  test("in real-time mode the clock is read for each record") {
    val readings = countedReadings()
    val input = LowLatencyMemoryStream[Timestamp](spark, 2)
    val many = input.toDS().flatMap((one: Timestamp) => Seq.fill(Many)(one)).withE2ELatency("node", "value")
    val query = startInRealTime(many, "each_record")
    try {
      input.addData(ago(1, 2))
      eventually(assert(findNode("node", "each_record").exists(_.records == 2 * Many)))
      assert(readings.get >= 2 * Many)
    } finally query.stop()
  }
}

object ShippedClockSuite {
  private val Many = 10000

  /** A second before the record is made, where a pause comes before it; else much longer before. */
  private def stampAfterPauses(row: Long): Long = {
    val pauses = row % 500 == 499
    if (pauses) pause()
    System.currentTimeMillis() - (if (pauses) 1000 else 100000)
  }

  /** Long enough to be seen, and until the ticker has moved, if it goes: on a busy machine it may be kept from it. */
  private def pause(): Unit = {
    val (begin, tick) = (System.nanoTime(), Ticks.now)
    def passed(ms: Long) = System.nanoTime() - begin > ms * 1000 * 1000
    while (!passed(50) || Ticks.now == tick && !passed(5000)) Thread.onSpinWait()
  }
}
