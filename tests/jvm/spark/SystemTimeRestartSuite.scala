package io.sparklatency.spark

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._
import org.apache.spark.sql.streaming.StreamingQueryException
import org.apache.spark.sql.streaming.Trigger

/** A system-time watermark from one run of a query to the next. */
class SystemTimeRestartSuite extends SystemTimeTest {
  test("after a restart with nothing new it closes what is open, once") {
    val input = stream
    val folder = checkpoint()
    running(windows(lagging(input)), checkpoint = folder) { it =>
      it.reads(input, 1, 2)
      assert(it.rows === Nil)
    }
    clock.set(Start + 20000)
    running(windows(lagging(input)), checkpoint = folder) { it =>
      processAll(it.query)
      assert(it.rows === Seq(Seq(10.0, 2)))
      it.comesTo(30)
      assert(it.rows.size === 1)
    }
    clock.set(Start + 40000)
    running(windows(lagging(input)), checkpoint = folder) { it =>
      processAll(it.query)
      assert(it.rows === Nil)
    }
  }

  test("after a restart in complete mode, or without state, no batch runs") {
    val shapes = Seq[(String, DataFrame => DataFrame)](
      "complete" -> windows,
      "append" -> identity,
      "append" -> (_.limit(5))
    )
    for ((mode, shape) <- shapes) {
      val input = stream
      val folder = checkpoint()
      running(shape(lagging(input)), mode, folder)(_.reads(input, 1))
      clock.advance(20000)
      running(shape(lagging(input)), mode, folder) { it =>
        processAll(it.query)
        clock.advance(5000)
        processAll(it.query)
        assert(it.query.recentProgress.filter(_.durationMs.containsKey("addBatch")) === Nil, mode)
        it.reads(input, 30)
        assert(it.batches === 2, mode)
      }
    }
  }

  test(
    "a state that does not fit is refused after a restart, also where Spark is to run no batch without data"
  ) {
    withSettings("spark.sql.streaming.noDataMicroBatches.enabled" -> "false") {
      val input = stream
      val folder = checkpoint()
      running(windows(lagging(input)), checkpoint = folder)(_.reads(input, 1))
      clock.advance(20000) // so the watermark moves before the first batch
      val other = lagging(input).groupBy(window(col("value"), "10 seconds")).agg(max("value").as("newest"))
      val refused = intercept[StreamingQueryException](
        running(
          other.select(seconds("window.end"), seconds("newest")),
          checkpoint = folder
        )(_.reads(input, 22))
      )
      assert(refused.getMessage.toLowerCase.contains("schema"), refused.getMessage)
    }
  }

  test("a watermark that a run has reached is kept by the next, though its clock is behind") {
    val input = stream
    val folder = checkpoint()
    running(windows(lagging(input)), checkpoint = folder) { it =>
      it.reads(input, 41)
      it.comesTo(45)
      assert(it.watermark === 35.0)
    }
    clock.set(Start)
    running(windows(lagging(input)), checkpoint = folder) { it =>
      processAll(it.query)
      it.reads(input, 21)
      assert(it.watermark === 35.0)
      assert(it.kept === 1) // the event at 21 was late
    }
  }

  test(
    "after a downtime longer than the lag the first batch takes what waited, and later ones drop it as late"
  ) {
    val input = stream
    val folder = checkpoint()
    running(windows(lagging(input)), checkpoint = folder)(_.reads(input, 1))
    clock.set(Start + 1000000)
    input.addData(at(2))
    running(windows(lagging(input)), checkpoint = folder) { it =>
      processAll(it.query)
      assert(it.rows === Seq(Seq(10.0, 2)))
      it.comesTo(1001)
      it.reads(input, 15)
      it.comesTo(1100)
      assert(it.rows.size === 1)
    }
  }

  test("a checkpoint begun without it goes on with it, and back") {
    val input = stream
    val folder = checkpoint()
    def plain = windows(input.toDF().withWatermark("value", "10 seconds"))
    running(plain, checkpoint = folder)(_.reads(input, 1))
    running(windows(lagging(input)), checkpoint = folder) { it =>
      it.comesTo(20)
      assert(it.rows === Seq(Seq(10.0, 1)))
    }
    running(plain, checkpoint = folder) { it =>
      it.reads(input, 25)
      it.reads(input, 45)
      assert(it.rows === Seq(Seq(30.0, 1)))
    }
  }

  test("a batch that is replayed has the watermark that it had, and gives out the same") {
    val input = stream
    val folder = checkpoint()
    running(windows(lagging(input)), checkpoint = folder) { it =>
      it.reads(input, 1, 15)
      it.comesTo(20)
      assert(it.rows === Seq(Seq(10.0, 1)))
    }
    val last = uncommitLast(folder)
    clock.set(Start + 100000)
    running(windows(lagging(input)), checkpoint = folder) { it =>
      processAll(it.query)
      assert(it.rows === Seq(Seq(10.0, 1), Seq(20.0, 1)))
      val replayed = it.query.recentProgress.head
      assert(replayed.batchId === last)
      assert(replayed.eventTime.get("watermark") === "1970-01-01T00:16:50.000Z") // 10 s after the start
    }
  }

  test("with a trigger that ends when all is read it ends, and the next run closes the windows") {
    val input = stream
    val folder = checkpoint()
    def once(): Seq[Seq[Any]] =
      running(windows(lagging(input)), checkpoint = folder, trigger = Trigger.AvailableNow()) { it =>
        assert(it.query.awaitTermination(Patience.Millis))
        it.rows
      }
    input.addData(at(1))
    assert(once() === Nil)
    clock.set(Start + 20000)
    input.addData(at(21))
    assert(once() === Seq(Seq(10.0, 1)))
  }
}
