package io.sparklatency

import java.time.ZoneId
import java.time.ZoneOffset.UTC

import scala.xml.Elem
import scala.xml.XML

import io.sparklatency.answer.Work
import io.sparklatency.drawing.GraphDrawing
import io.sparklatency.drawing.LatencyChart
import io.sparklatency.drawing.PhasesChart
import io.sparklatency.drawing.Sparkline
import io.sparklatency.drawing.Stylesheet
import io.sparklatency.figures.BatchTimes
import io.sparklatency.figures.NodeLatencies
import io.sparklatency.figures.NodeTimes
import io.sparklatency.figures.StageTimes
import io.sparklatency.path.LatencyPath
import org.scalatest.funsuite.AnyFunSuite

/** Drawings of a query's nodes and of a node's history, read as the XML that they are. */
class LatencyDrawingSuite extends AnyFunSuite {
  import Aged._

  private val shop = Seq(
    node("clicks")(100),
    node("orders")(50),
    node("joined", "clicks", "orders")(1000),
    node("sink", "joined")(1000)
  )

  private def graph(nodes: NodeLatencies*): Elem =
    XML.loadString(new GraphDrawing(new LatencyPath(nodes), id => s"?node=$id").svg)

  private def texts(of: Elem, style: String): Seq[String] =
    (of \\ "text").filter(_ \@ "class" == style).map(_.text)

  private val worked = Work.of(BatchTimes(
    7,
    0,
    Some(0.0),
    Seq(
      StageTimes(
        Nil,
        0,
        400,
        1,
        Seq(NodeTimes("clicks", Some(0), 400, 0, "1"), NodeTimes("orders", None, 400, 0, "1")),
        Seq("clicks", "orders"),
        400
      ),
      StageTimes(Seq(0), 400, 1000, 1, Seq(NodeTimes("joined", Some(600), 1000, 0, "1")), Seq("joined"), 0)
    )
  ))

  test(
    "each node shows its operator latency, and on the critical path of operators a bar as long as its share"
  ) {
    val drawn = XML.loadString(new GraphDrawing(new LatencyPath(shop), id => s"?node=$id", Some(worked)).svg)
    assert(texts(drawn, "latency-work") === Seq("at work 0 ms", "at work –", "at work 600 ms", "at work –"))
    assert(texts(drawn, "latency-work-share") === Seq("0 %", "60 %"))
    def widths(style: String) =
      (drawn \\ "rect").filter(_ \@ "class" == style).map(rect => (rect \@ "width").toDouble)
    assert(widths("latency-work-bar") === Seq(2.0, 99.6))
    assert(widths("latency-work-track").distinct === Seq(166.0))
    assert((drawn \\ "title").map(_.text).exists(_.endsWith("; operators at work 600 ms, 60 % of the batch")))
    val heights = (drawn \\ "rect").filter(_ \@ "class" == "latency-box").map(_ \@ "height").distinct
    assert(heights === Seq("90"))
    assert(texts(graph(shop: _*), "latency-work") === Nil, "nothing where no batch tells it")
  }

  test("each node shows its id, average and 99th percentile, what arose there, and its share of the whole") {
    val drawn = graph(shop: _*)
    assert(texts(drawn, "latency-id") === Seq("clicks", "orders", "joined", "sink"))
    assert(texts(drawn, "latency-ages").take(3) ===
      Seq("avg 100 ms · p99 100 ms", "avg 50 ms · p99 50 ms", "avg 1 s · p99 1 s"))
    assert(texts(drawn, "latency-own") === Seq("here 100 ms", "here 50 ms", "here 900 ms", "here 0 ms"))
    assert(texts(drawn, "latency-share") === Seq("10 %", "5 %", "90 %", "0 %"))
  }

  test("a node is the warmer the more of the whole arose there") {
    val heats = (graph(shop: _*) \\ "rect").filter(_ \@ "class" == "latency-heat").map(_ \@ "fill-opacity")
    assert(heats === Seq("0.05", "0.03", "0.45", "0.0"))
  }

  test("the critical path is bold, nodes and edges, and drawn over the others") {
    val drawn = graph(shop: _*)
    val nodes = (drawn \ "a").map(node => (node \ "text").head.text -> (node \@ "class")).toMap
    assert(nodes.collect { case (id, "latency-node latency-critical") => id }.toSet === Set(
      "clicks",
      "joined",
      "sink"
    ))
    assert((drawn \ "path").map(_ \@ "class").filter(_.startsWith("latency-edge")) ===
      Seq("latency-edge", "latency-edge latency-critical", "latency-edge latency-critical"))
  }

  test("what is unknown is an en dash, without warmth") {
    val drawn = graph(node("only")())
    assert(texts(drawn, "latency-ages") === Seq("avg – · p99 –"))
    assert(texts(drawn, "latency-share") === Seq("–"))
    assert((drawn \\ "rect").last \@ "fill-opacity" === "0.0")
  }

  test("an id is shown as it is, escaped, and shortened in the middle with the whole of it as a hint") {
    val ids = Seq("""<script>"&'</script>""", "parse-orders-from-the-marketplace-v2", "bell\u0007")
    val drawn = graph(ids.map(node(_)(1)): _*)
    assert(texts(drawn, "latency-id") === Seq(ids.head, "parse-orde…etplace-v2", "bell\ufffd"))
    assert((drawn \\ "title").map(_.text.takeWhile(_ != ':')).take(2) === ids.take(2))
    assert((drawn \ "a").head \@ "href" === s"?node=${ids.head}")
  }

  test("no number depends on the language of the machine") {
    val before = java.util.Locale.getDefault
    try {
      java.util.Locale.setDefault(java.util.Locale.GERMANY)
      assert(texts(graph(node("slow")(4200)), "latency-own") === Seq("here 4.2 s"))
    } finally java.util.Locale.setDefault(before)
  }

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

  test("of a wide graph a chain of nodes that add nothing is one box, a link to the last of them") {
    val chain = (1 to 12).scanLeft(node("source")(100)) { (before, i) =>
      node(s"step$i", before.id)(if (i < 5) 100 else 5000)
    }
    val drawn = graph(chain :+ node("sink", "step12")(9000): _*)
    assert(texts(drawn, "latency-id") === Seq("source", "4 nodes", "step5", "7 nodes", "sink"))
    assert((drawn \ "a").map(_ \@ "href") ===
      Seq("source", "step4", "step5", "step12", "sink").map(id => s"?node=$id"))
    assert(
      (drawn \\ "title").map(_.text).apply(1).startsWith("4 nodes, step1, step2, step3, step4: avg 100 ms")
    )
    assert((drawn \ "a").map(_ \@ "class").apply(3) === "latency-node latency-critical latency-folded")
    val edges = (drawn \ "path").map(_ \@ "class").filter(_.startsWith("latency-edge"))
    assert(edges === Seq.fill(4)("latency-edge latency-critical"))
  }

  test("a node that was at work for long is in no chain, though ages do not grow there") {
    val chain = (1 to 12).scanLeft(node("source")(100))((before, i) => node(s"step$i", before.id)(100))
    def took(id: String, ms: Double) = NodeTimes(id, Some(ms), 1000, 0, "1")
    val times = Seq(took("step2", 100), took("step5", 300), took("step9", 600))
    val work = Work.of(BatchTimes(
      7,
      0,
      Some(0.0),
      Seq(StageTimes(Nil, 0, 1000, 1, times, Seq("step2", "step5", "step9"), 0))
    ))
    val drawn =
      XML.loadString(new GraphDrawing(new LatencyPath(chain), id => s"?node=$id", Some(work)).svg)
    assert(texts(
      drawn,
      "latency-id"
    ) === Seq("source", "4 nodes", "step5", "3 nodes", "step9", "2 nodes", "step12"))
  }

  /** The widths between which a drawing is seen, in pixels, and its own. */
  private def widths(drawn: Elem): Seq[Double] = {
    val limits = raw"max-width: ([\d.]+)px; min-width: ([\d.]+)px".r
    val Some(found) = limits.findFirstMatchIn(drawn \@ "style"): @unchecked
    Seq(found.group(2), found.group(1), (drawn \@ "viewBox").split(' ')(2)).map(_.toDouble)
  }

  /** So high is text that is as small as a drawing may become. */
  private val leastPixels = 7.9

  test("forty nodes that add nothing fit beside one another, and forty that do stay readable") {
    def chain(ms: Int => Long) =
      (1 until 40).scanLeft(node("n0")(100))((before, i) => node(s"n$i", before.id)(ms(i)))

    val folded = graph(chain(i => if (i == 39) 9000 else 100): _*)
    assert(texts(folded, "latency-id") === Seq("n0", "38 nodes", "n39"))
    assert(widths(folded) === Seq(429.0, 650.0, 650.0))

    val long = graph(chain(i => 100 + 100L * i): _*)
    assert(texts(long, "latency-id") === (0 until 40).map(i => s"n$i"))
    assert(widths(long) === Seq(6045.6, 9160.0, 9160.0))

    val size = raw"svg\.latency-graph, svg\.latency-chart \{[^}]*font-size: (\d+)px".r
      .findFirstMatchIn(Stylesheet.css).map(_.group(1).toInt)
    for (Seq(least, _, own) <- Seq(folded, long).map(widths))
      assert(size.exists(_ * least / own >= leastPixels))
  }

  test("what fits is not folded, and neither are forks nor what adds something") {
    val six = (1 to 5).scanLeft(node("source")(100))((before, i) => node(s"step$i", before.id)(100))
    assert(texts(graph(six: _*), "latency-id").size === 6)
    val forked =
      (1 to 8).scanLeft(node("source")(100))((before, i) => node(s"step$i", before.id)(100 * i + 100))
    assert(texts(graph(forked: _*), "latency-id").size === 9)
  }

  test("links are reached by the keyboard, and known to who cannot see them") {
    val drawn = graph(shop: _*)
    assert((drawn \@ "role", (drawn \ "a" \ "title").size) === (("group", 4)))
    assert(drawn \@ "aria-label" === "nodes of the query, each a link to its history")
  }

  private def phases(bars: PhasesChart.Bar*): Elem = XML.loadString(PhasesChart.of(bars, UTC).svg)

  test("phases of a batch stand on one another, and what no phase holds on all") {
    val known = Map("addBatch" -> 600L, "walCommit" -> 100L, "triggerExecution" -> 1000L)
    val drawn = phases(PhasesChart.bar(7, 0, known, 500).get)
    assert((drawn \ "path").map(shape =>
      (shape \@ "class").stripPrefix("latency-phase ") -> shape \@ "d"
    ) === Seq(
      "latency-phase-walCommit" -> "M60,139.6V154H83V139.6z",
      "latency-phase-addBatch" -> "M60,53.2V139.6H83V53.2z",
      "latency-phase-other" -> "M60,10V53.2H83V10z"
    ))
    assert((drawn \ "g" \ "path").map(_ \@ "d") === Seq("M60,10V154H83V10z"))
    assert(drawn.child.last \@ "class" === "latency-hints", "over all else")
    assert((drawn \\ "title").map(_.text) === Seq(
      "batch 7 · 1970-01-01 00:00:00 · walCommit 100 ms · addBatch 600 ms · other 300 ms · 500 rows · 500 rows/s"
    ))
    assert(texts(drawn, "latency-tick") ===
      Seq("0 ms", "200 ms", "400 ms", "600 ms", "800 ms", "1 s", "batch 7", "500 rows/s", "0 rows/s"))
  }

  test("the first batch and the last are named, together where two names would lie on one another") {
    def named(batches: Range) = {
      val bars = batches.flatMap(i => PhasesChart.bar(i.toLong, 0, Map("triggerExecution" -> 100L), 0))
      (phases(bars: _*) \ "text").filter(_ \@ "y" === "174")
        .map(label => (label.text, label \@ "x", label \@ "text-anchor"))
    }
    assert(named(7 to 7) === Seq(("batch 7", "74.4", "start")))
    assert(named(0 to 1) === Seq(("batches 0 to 1", "74.4", "start")))
    assert(named(0 to 3) === Seq(("batches 0 to 3", "74.4", "start")))
    assert(named(0 to 4) === Seq(("batch 0", "74.4", "start"), ("batch 4", "189.6", "end")))
    assert(named(1000 to 1004) === Seq(("batches 1,000 to 1,004", "74.4", "start")))
    assert(named(1000 to 1006) === Seq(("batch 1,000", "74.4", "start"), ("batch 1,006", "247.2", "end")))
  }

  test("a batch of which nothing is told has no bar") {
    assert(PhasesChart.bar(7, 0, Map.empty, 500) === None)
  }

  test("a line in a table goes from 0 to the greatest, with a gap where nothing was measured") {
    val drawn = XML.loadString(new Sparkline("p99", Seq(Some(100), Some(400), None, Some(200), Some(0))).svg)
    assert((drawn \ "polyline").map(_ \@ "points") === Seq("1,13 23,1", "67,9 89,17"))
    assert((drawn \ "title").text === "p99 of the last 5 batches, 0 ms to 400 ms")
    assert(new Sparkline("p99", Seq(Some(100), None)).svg === "")
  }

  test("a line in a table tells the greatest as it is, also where that is 0 or less") {
    def told(values: Long*) =
      (XML.loadString(new Sparkline("p99", values.map(Option(_))).svg) \ "title").text
    assert(told(0, 0) === "p99 of the last 2 batches, 0 ms to 0 ms")
    assert(told(-200, -50) === "p99 of the last 2 batches, -200 ms to -50 ms")
  }

  test("a line in a table shows a value between gaps as a dash") {
    val drawn = XML.loadString(new Sparkline("p99", Seq(Some(100), None, Some(400))).svg)
    assert((drawn \ "polyline").map(_ \@ "points") === Seq("0,13 2,13", "88,1 90,1"))
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
    assert(points(1 to 240) === (1 to 240).map(Seq(_)))
    assert(points(1 to 241) === Seq(1) +: (2 to 240 by 2).map(i => Seq(i, i + 1)))
    for (size <- Seq(241, 478, 479, 480, 717, 718, 720, 1000); first <- 0 to 5) {
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
