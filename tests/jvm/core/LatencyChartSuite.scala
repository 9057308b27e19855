package io.sparklatency

import java.time.ZoneId
import java.time.ZoneOffset.UTC

import scala.xml.Elem
import scala.xml.XML

import io.sparklatency.drawing.LatencyChart
import org.scalatest.funsuite.AnyFunSuite

/** A node's history, drawn as the XML that it is. */
class LatencyChartSuite extends AnyFunSuite with Drawn {
  import Aged._

  private def chart(points: LatencyChart.Point*): Elem = chartIn(UTC, points)

  private def chartIn(zone: ZoneId, points: Seq[LatencyChart.Point]): Elem =
    XML.loadString(new LatencyChart(points.map(LatencyChart.Drawn(_, zone)), zone).svg)

  private def point(atMs: Long)(ms: Long*) = LatencyChart.Point(atMs, records(ms: _*))

  private def shapes(of: Elem, style: String): Seq[String] =
    (of \ "_").filter(_ \@ "class" == style).map(_ \@ "points")

  test("a chart has round levels, and the times of its batches") {
    val drawn = chart(point(0)(100, 300), point(4000)(200, 380))
    assert(texts(drawn, "latency-tick") ===
      Seq(
        "0 ms",
        "100 ms",
        "200 ms",
        "300 ms",
        "400 ms",
        "00:00:00",
        "00:00:01",
        "00:00:02",
        "00:00:03",
        "00:00:04",
        "1970-01-01, Z"
      ))
  }

  private def ticks(greatestMs: Long, zone: ZoneId, times: Long*): Seq[String] = {
    val points = times.map(at => point(at)(greatestMs))
    texts(chartIn(zone, points), "latency-tick")
  }

  test("levels are in one unit each") {
    assert(ticks(71000, UTC, 0).take(6) === Seq("0 ms", "15 s", "30 s", "45 s", "60 s", "75 s"))
    assert(ticks(100000, UTC, 0).take(5) === Seq("0 ms", "30 s", "60 s", "90 s", "120 s"))
    assert(ticks(720000, UTC, 0).take(4) === Seq("0 ms", "5 min", "10 min", "15 min"))
  }

  test("times are round in the zone of the axis, which is named with the date") {
    val kolkata = ZoneId.of("Asia/Kolkata") // half an hour beside
    val at = 1700000000000L // 2023-11-15 03:43:20 there
    assert(ticks(100, kolkata, at, at + 30 * 60000).takeRight(4) ===
      Seq("03:50", "04:00", "04:10", "2023-11-15, Asia/Kolkata"))
    assert(ticks(100, kolkata, at, at + 4 * 3600000L).takeRight(5) ===
      Seq("04:00", "05:00", "06:00", "07:00", "2023-11-15, Asia/Kolkata"))
    assert(ticks(100, kolkata, at, at + 4 * 86400000L).takeRight(5) ===
      Seq("11-16", "11-17", "11-18", "11-19", "2023-11-15 to 2023-11-19, Asia/Kolkata"))
  }

  test("times stay round where a clock is changed meanwhile, and each day has its own") {
    val berlin = ZoneId.of("Europe/Berlin") // from 03:00 back to 02:00 on the 29th
    def at(day: Int, hour: Int) =
      java.time.LocalDateTime.of(2023, 10, day, hour, 0).atZone(berlin).toInstant.toEpochMilli
    assert(ticks(100, berlin, at(27, 12), at(31, 12)).takeRight(5) ===
      Seq("10-28", "10-29", "10-30", "10-31", "2023-10-27 to 2023-10-31, Europe/Berlin"))
    assert(ticks(100, berlin, at(28, 22), at(29, 20)).takeRight(5) ===
      Seq("00:00", "06:00", "12:00", "18:00", "2023-10-28 to 2023-10-29, Europe/Berlin"))
  }

  test("where the clock was set back meanwhile, no batch stands beside the chart") {
    val drawn = chart(point(0)(100), point(3600000)(200), point(60000)(300))
    assert(shapes(drawn, "latency-avg").map(_.split(' ').map(_.takeWhile(_ != ',')).toSeq) ===
      Seq(Seq("60", "690", "70.5")))
  }

  test("a chart has the average, the maximum and a band from the median to the 99th percentile") {
    val drawn = chart(point(0)(100, 300), point(4000)(200, 400))
    assert(shapes(drawn, "latency-avg") === Seq("60,82 690,46"))
    assert(shapes(drawn, "latency-max") === Seq("60,46 690,10"))
    assert(shapes(drawn, "latency-band") === Seq("60,46 690,10 690,82 60,118"))
    assert((drawn \\ "path").map(_ \@ "d") === Seq("M60,10V154H375V10z", "M375,10V154H690V10z"))
  }

  test("where nothing was measured there is a gap, and no zero") {
    val drawn = chart(point(0)(100), point(1000)(100), point(2000)(), point(3000)(100), point(4000)(100))
    assert(shapes(drawn, "latency-avg") === Seq("60,10 217.5,10", "532.5,10 690,10"))
    assert((drawn \\ "title").map(_.text).apply(2) === "1970-01-01 00:00:02 · no record with a timestamp")
  }

  test("a single batch can be seen") {
    assert(shapes(chart(point(0)(100)), "latency-avg") === Seq("373,10 377,10"))
  }

  test("records ahead of the clock are below the line of zero") {
    val drawn = chart(point(0)(-100), point(1000)(100))
    assert(texts(drawn, "latency-tick").head === "-100 ms")
  }

  test("where every record is ahead of the clock there are still few lines") {
    val drawn = chart(point(0)(-7200000), point(1000)(-7199000))
    assert(texts(drawn, "latency-tick").size <= 15)
  }

  /** Batches, by their numbers, that share a point, oldest first. */
  private def points(batches: Range): Seq[Seq[Int]] = {
    val newestFirst = batches.reverse
    LatencyChart.sharing(batches.size, batches.last.toLong).map(_.map(newestFirst).reverse).reverse
  }

  test("of a long history neighbours share a point, as many as must, and none is left out") {
    assert(points(1 to 160) === (1 to 160).map(Seq(_)))
    assert(points(1 to 161) === Seq(1) +: (2 to 160 by 2).map(i => Seq(i, i + 1)))
    for (size <- Seq(161, 318, 319, 320, 477, 478, 480, 1000); first <- 0 to 5) {
      val batches = first until first + size
      val shared = points(batches)
      assert(shared.flatten === batches)
      assert(shared.size <= LatencyChart.MaxPoints)
      assert(shared.drop(1).dropRight(1).map(_.size).distinct.size === 1)
    }
  }

  test("a batch that comes, and the oldest that goes, move no other to another point") {
    assert(points(1 to 1000).drop(1).dropRight(1).diff(points(2 to 1001)).isEmpty)
  }
}
