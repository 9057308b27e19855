package io.sparklatency

import io.sparklatency.GraphLayout.Place

/**
 * The nodes of a query as a drawing in SVG: how old records are at each, how much of the whole arose there (the warmer, the
 * more), and the critical path in bold. Colours are the page's: everything has a class, and nothing a colour.
 *
 * @param nodes in plan order, upstream first
 * @param href  where a click on a node leads
 */
final class LatencyGraph(nodes: Seq[NodeRecord], href: String => String) {
  import LatencyGraph._

  private val path = new LatencyPath(nodes)
  private val critical = path.critical.toSet
  private val onPath = path.critical.zip(path.critical.drop(1)).toSet
  private val layout = GraphLayout.of(nodes)

  def svg: String = {
    val width = layout.columns * (Width + Gap) - Gap + 2 * Margin
    val height = layout.rows * (Height + Between) - Between + 2 * Margin
    val (bold, thin) = layout.edges.partition(edge => onPath(edge.from -> edge.to))
    Svg.element(
      "svg",
      "xmlns" -> "http://www.w3.org/2000/svg",
      "class" -> "latency-graph",
      "width" -> width,
      "height" -> height,
      "viewBox" -> s"0 0 ${Svg.number(width)} ${Svg.number(height)}",
      "role" -> "img",
      "aria-label" -> "nodes of the query"
    )((thin.map(edge(_, "latency-edge")) ++ bold.map(edge(
      _,
      "latency-edge latency-critical"
    )) ++ nodes.map(box)): _*)
  }

  /** From the right of a node through the middles of bends to the left of another. */
  private def edge(edge: GraphLayout.Edge, style: String): String = {
    val (start, end) = (edge.through.head, edge.through.last)
    val stops = (left(start) + Width, middle(start)) +: edge.through.drop(1).dropRight(1).flatMap { bend =>
      Seq((left(bend), middle(bend)), (left(bend) + Width, middle(bend)))
    } :+ ((left(end) - Arrow, middle(end)))
    val (startX, startY) = stops.head
    val line = stops.zip(stops.drop(1)).map { case ((x1, y1), (x2, y2)) =>
      val half = (x1 + x2) / 2
      s"C${point(half, y1)} ${point(half, y2)} ${point(x2, y2)}"
    }
    Svg.element("path", "class" -> style, "d" -> line.mkString(s"M${point(startX, startY)}", "", ""))() +
      Svg.element(
        "path",
        "class" -> style.replace("latency-edge", "latency-arrow"),
        "d" -> s"M${point(left(end), middle(end))}l-8 -4v8z"
      )()
  }

  private def box(node: NodeRecord): String = {
    val place = layout.places(node.id)
    val (x, y) = (left(place), middle(place) - Height / 2)
    val latency = node(Measure.E2ELatency)
    val share = path.share(node)
    val style = if (critical(node.id)) "latency-node latency-critical" else "latency-node"
    val ages =
      s"avg ${Readable.duration(latency.avg)} · p99 ${Readable.duration(latency.percentile(99).map(_.toDouble))}"
    val own = s"here ${Readable.duration(path.own(node))}"
    Svg.element("a", "href" -> href(node.id), "class" -> style)(
      Svg.element("title")(
        Svg.escape(s"${node.id}: $ages; $own, ${share.fold(Readable.Unknown)(Readable.percent)} of the whole")
      ),
      Svg.element(
        "rect",
        "class" -> "latency-box",
        "x" -> x,
        "y" -> y,
        "width" -> Width,
        "height" -> Height,
        "rx" -> 4
      )(),
      Svg.element(
        "rect",
        "class" -> "latency-heat",
        "x" -> x,
        "y" -> y,
        "width" -> Width,
        "height" -> Height,
        "rx" -> 4,
        "fill-opacity" -> math.round(share.getOrElse(0.0) * Heat * 100) / 100f
      )(),
      text(x + 10, y + 20, "latency-id", Readable.shortened(node.id, IdLength)),
      text(x + 10, y + 38, "latency-ages", ages),
      text(x + 10, y + 55, "latency-own", own),
      text(x + Width - 10, y + 55, "latency-share", share.fold(Readable.Unknown)(Readable.percent))
    )
  }

  private def text(x: Double, y: Double, style: String, text: String): String =
    Svg.element("text", "class" -> style, "x" -> x, "y" -> y)(Svg.escape(text))

  private def left(place: Place): Double = Margin + place.column * (Width + Gap)

  private def middle(place: Place): Double =
    Margin + Height / 2 + (place.row + (layout.rows - 1) / 2) * (Height + Between)

  private def point(x: Double, y: Double): String = s"${Svg.number(x)} ${Svg.number(y)}"
}

object LatencyGraph {
  private val Width = 186.0
  private val Height = 64.0
  private val Gap = 44.0
  private val Between = 18.0
  private val Margin = 2.0
  private val Arrow = 6.0
  private val IdLength = 21

  /** Of a node at which everything arose: text on it can still be read, on a light and on a dark page. */
  private val Heat = 0.55
}
