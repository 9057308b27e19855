package io.sparklatency

import scala.xml.Elem
import scala.xml.XML

import io.sparklatency.answer.Work
import io.sparklatency.drawing.GraphDrawing
import io.sparklatency.drawing.Stylesheet
import io.sparklatency.figures.BatchTimes
import io.sparklatency.figures.NodeLatencies
import io.sparklatency.figures.NodeTimes
import io.sparklatency.figures.StageTimes
import io.sparklatency.path.LatencyPath
import org.scalatest.funsuite.AnyFunSuite

/** The graph of a query's nodes, as the XML that it is. */
class LatencyDrawingSuite extends AnyFunSuite with Drawn {
  import Aged._

  private val shop = Seq(
    node("clicks")(100),
    node("orders")(50),
    node("joined", "clicks", "orders")(1000),
    node("sink", "joined")(1000)
  )

  private def graph(nodes: NodeLatencies*): Elem =
    XML.loadString(new GraphDrawing(new LatencyPath(nodes), id => s"?node=$id").svg)

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
}
