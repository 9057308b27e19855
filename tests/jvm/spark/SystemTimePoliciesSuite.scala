package io.sparklatency.spark

import org.apache.spark.sql.functions.col
import org.apache.spark.sql.functions.window

/** A system-time watermark beside others, and how Spark puts several together. */
class SystemTimePoliciesSuite extends SystemTimeTest with Patient {

  /** A union of an input with an ordinary watermark and one with a system-time watermark. */
  private def besideOrdinary(policy: String)(body: Running => Unit): Unit =
    withSettings("spark.sql.streaming.multipleWatermarkPolicy" -> policy) {
      val (ordinary, system) = (stream, stream)
      val both = ordinary.toDF().withWatermark("value", "10 seconds").union(lagging(system))
      running(windows(both)) { it =>
        it.reads(system, 3) // first: when the other one's watermark stands at 15 it would be late
        it.reads(ordinary, 25)
        it.comesTo(60)
        body(it)
      }
    }

  test("next to an ordinary watermark the policy min takes the lesser of the two") {
    besideOrdinary("min") { it =>
      assert(it.watermark === 15.0)
      assert(it.rows === Seq(Seq(10.0, 1)))
    }
  }

  test("next to an ordinary watermark the policy max takes the greater of the two") {
    besideOrdinary("max") { it =>
      assert(it.watermark === 50.0)
      assert(it.rows === Seq(Seq(10.0, 1), Seq(30.0, 1)))
    }
  }

  /** Two inputs with ordinary watermarks under the policy min, and the query's watermark after each event. */
  private def afterEach(delay: String)(events: (Char, Int)*): Seq[Double] = {
    val (a, b) = (stream, stream)
    val both = a.toDF().withWatermark("value", delay).union(b.toDF().withWatermark("value", delay))
    running(windows(both)) { it =>
      events.map { case (input, second) =>
        it.reads(if (input == 'a') a else b, second)
        it.watermark
      }
    }
  }

  /** 1970, as long as an input has had no event. */
  private val none = -1000.0

  test("Hazelcast C3: of two ordinary watermarks the lesser counts, and only if it is greater than the last") {
    assert(afterEach("3 seconds")('a' -> 10, 'a' -> 11, 'b' -> 10, 'b' -> 11, 'b' -> 12, 'a' -> 13) ===
      Seq(none, none, 7, 8, 8, 9))
  }

  test(
    "Hazelcast C12: watermarks of two inputs are put together, and an older event takes them nowhere back"
  ) {
    assert(afterEach("0 seconds")('a' -> 1, 'b' -> 2, 'a' -> 3, 'b' -> 4, 'a' -> 2, 'a' -> 5) ===
      Seq(none, 1, 2, 3, 3, 4))
  }

  test("Hazelcast C11: an ordinary watermark goes by the source's own timestamp") {
    val rate = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", "1")
      .option("startTimestamp", (Start + 11000).toString).load()
    val counts =
      rate.withWatermark("timestamp", "3 seconds").groupBy(window(col("timestamp"), "1 second")).count()
    running(counts, "update") { it =>
      eventually(assert(it.query.recentProgress.count(_.numInputRows > 0) >= 2))
      val watermarks = it.query.recentProgress.map(_.eventTime.get("watermark"))
      assert(
        watermarks.dropWhile(_ == watermarks.head).head === "1970-01-01T00:16:48.000Z"
      ) // 8 s after the start
    }
  }

  test("two of them with different lags: the longer one holds the query's watermark back") {
    val (a, b) = (stream, stream)
    running(windows(lagging(a, "5 seconds").union(lagging(b, "20 seconds")))) { it =>
      a.addData(at(1))
      it.reads(b, 2)
      it.comesTo(29)
      assert(it.rows === Nil)
      it.comesTo(30)
      assert(it.rows === Seq(Seq(10.0, 2)))
    }
  }
}
