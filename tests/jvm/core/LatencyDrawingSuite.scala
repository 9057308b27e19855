package io.sparklatency

import java.time.ZoneOffset.UTC

import scala.xml.Elem
import scala.xml.XML

import io.sparklatency.drawing.GraphDrawing
import io.sparklatency.drawing.LatencyChart
import io.sparklatency.figures.NodeLatencies
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
    XML.loadString(new GraphDrawing(nodes, id => s"?node=$id").svg)

  private def texts(of: Elem, style: String): Seq[String] =
    (of \\ "text").filter(_ \@ "class" == style).map(_.text)

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
    assert(heats === Seq("0.06", "0.03", "0.5", "0.0"))
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

  private def chart(points: LatencyChart.Point*): Elem = XML.loadString(LatencyChart.of(points, UTC).svg)

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
        "00:00:04"
      ))
  }

  test("a chart has the average, the maximum and a band from the median to the 99th percentile") {
    val drawn = chart(point(0)(100, 300), point(4000)(200, 400))
    assert(shapes(drawn, "latency-avg") === Seq("60,82 708,46"))
    assert(shapes(drawn, "latency-max") === Seq("60,46 708,10"))
    assert(shapes(drawn, "latency-band") === Seq("60,46 708,10 708,82 60,118"))
  }

  test("where nothing was measured there is a gap, and no zero") {
    val drawn = chart(point(0)(100), point(1000)(100), point(2000)(), point(3000)(100), point(4000)(100))
    assert(shapes(drawn, "latency-avg") === Seq("60,10 222,10", "546,10 708,10"))
    assert((drawn \\ "title").map(_.text).apply(2) === "00:00:02 · no record with a timestamp")
  }

  test("a single batch can be seen") {
    assert(shapes(chart(point(0)(100)), "latency-avg") === Seq("382,10 386,10"))
  }

  test("records ahead of the clock are below the line of zero") {
    val drawn = chart(point(0)(-100), point(1000)(100))
    assert(texts(drawn, "latency-tick").head === "-100 ms")
  }

  test("where every record is ahead of the clock there are still few lines") {
    val drawn = chart(point(0)(-7200000), point(1000)(-7199000))
    assert(texts(drawn, "latency-tick").size <= 15)
  }

  test("of a long history neighbours share a point, and no maximum is lost") {
    val drawn = chart((1 to 1000).map(i => point(i * 1000L)(if (i == 500) 9000 else 10)): _*)
    assert((drawn \\ "title").size === 200)
    assert((drawn \\ "title").count(_.text.contains("max 9 s")) === 1)
  }
}
