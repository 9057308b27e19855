package io.sparklatency.spark

/** A system-time watermark beside others. */
class SystemTimePoliciesSuite extends SystemTimeTest {

  /** A union of an input with an ordinary watermark and one with a system-time watermark. */
  private def besideOrdinary(policy: String)(body: Running => Unit): Unit =
    withSettings("spark.sql.streaming.multipleWatermarkPolicy" -> policy) {
      val (ordinary, system) = (stream, stream)
      val both = ordinary.toDF().withWatermark("value", "10 seconds").union(lagging(system))
      running(windows(both)) { it =>
        ordinary.addData(at(25))
        it.reads(system, 3)
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
