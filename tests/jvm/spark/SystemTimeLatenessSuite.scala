package io.sparklatency.spark

import org.apache.spark.sql.DataFrame

/** What is dropped as late by the clock is counted apart from what is dropped by event time. Lags have 10 s. */
class SystemTimeLatenessSuite extends SystemTimeTest {

  /** How many records were dropped by event time, and by the clock, with the distances of the nearest and the furthest of the latter. */
  private def dropped(it: Running): (Option[Long], Option[Long], Option[Long], Option[Long]) = {
    val operator = node("aggregate-1", it.query.name)
    val byClock = operator.measure("systemTimeLateness")
    (
      operator.measure("lateness").map(_.records),
      byClock.map(_.records),
      byClock.flatMap(_.min),
      byClock.flatMap(_.max)
    )
  }

  private def perSecond(df: DataFrame): DataFrame = df.groupBy("value").count().select(seconds("value"))

  test("what a system-time watermark drops, and how far it was behind") {
    withSettings(everything: _*) {
      val input = stream
      running(perSecond(lagging(input)), "update") { it =>
        it.reads(input, 1)
        it.comesTo(20)
        it.comesTo(21) // by the watermark of the batch before
        it.reads(input, 4, 12, 11, 30)
        assert(dropped(it) === ((None, Some(2), Some(0), Some(7000))))
      }
    }
  }

  test("beside an ordinary watermark each drop counts for the one that stands there") {
    withSettings(everything: _*) {
      val (ordinary, system) = (stream, stream)
      val both = ordinary.toDF().withWatermark("value", "10 seconds").union(lagging(system))
      running(perSecond(both), "update") { it =>
        ordinary.addData(at(35)) // stands at 25
        it.reads(system, 1)
        it.comesTo(20)
        it.comesTo(21)
        it.reads(system, 9) // by the clock it stood at 11
        it.comesTo(60)
        it.comesTo(61)
        it.reads(system, 20, 22) // by the events at 25
        assert(dropped(it) === ((Some(2), Some(1), Some(2000), Some(2000))))
      }
    }
  }

  test("notes, the tab and JMX tell them apart") {
    withSettings(everything: _*) {
      val input = stream
      running(perSecond(lagging(input)), "update") { it =>
        it.reads(input, 1)
        it.comesTo(20)
        it.comesTo(21)
        it.reads(input, 4)
        val notes = queryOf(it.query.name).get("notes").toString
        assert(
          notes.contains("aggregate-1 dropped 1 late record, up to 7 s behind the system-time watermark.")
        )
        assert(gauges(s"query.${it.query.name}.node.aggregate-1.records-dropped-late-by-system-time") === 1L)
      }
    }
  }
}
