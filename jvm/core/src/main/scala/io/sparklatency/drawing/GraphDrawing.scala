package io.sparklatency.drawing

import io.sparklatency.answer.Readable
import io.sparklatency.answer.Work
import io.sparklatency.drawing.GraphLayout.Place
import io.sparklatency.figures.Measure
import io.sparklatency.figures.NodeLatencies
import io.sparklatency.path.LatencyPath

/**
 * Draws the nodes of a query as SVG. Each node shows how old records are there. The warmer a node, the more of the whole arose
 * there. The critical path is bold. Where a batch tells it, a node also shows its operator latency, and if it is on the critical path of
 * operators, a bar as long as its share of the batch. Of a graph that is wide, chains of nodes that add nothing are one box. A drawing that does not
 * fit its place is drawn smaller, as long as it can be read. It has classes and no colours: the page sets those.
 *
 * @param path  what they are read from
 * @param href  the link of a node
 * @param work  who was at work for the last batch that tells it
 */
final class GraphDrawing(path: LatencyPath, href: String => String, work: Option[Work] = None) {
  import GraphDrawing._

  private val folded = FoldedChains.of(path, id => work.flatMap(_.path.share(id)))
  private val critical = path.critical.filter(folded.nodes.map(_.id).toSet)
  private val onPath = critical.zip(critical.drop(1)).toSet
  private val layout = GraphLayout.of(folded.nodes)
  private val height = Height + (if (work.isEmpty) 0 else WorkHeight)
  private val operators =
    work.toSeq.flatMap(_.times.nodes).flatMap(node => node.latencyMs.map(node.node -> _)).toMap

  def svg: String = {
    val width = layout.columns * (Width + Gap) - Gap + 2 * Margin
    val all = layout.rows * (height + Between) - Between + 2 * Margin
    val (bold, thin) = layout.edges.partition(edge => onPath(edge.from -> edge.to))
    val edges = thin.map(edge(_, "latency-edge")) ++ bold.map(edge(_, "latency-edge latency-critical"))
    Svg.root(
      "latency-graph",
      width,
      all,
      "group",
      "nodes of the query, each a link to its history",
      "style" -> s"max-width: ${Svg.number(width)}px; min-width: ${Svg.number(width * Smallest)}px"
    )((edges ++ folded.nodes.map(box)): _*)
  }

  /** From a node's right side, through the bends, to the next node's left side. */
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

  private def box(node: NodeLatencies): String = {
    val place = layout.places(node.id)
    val (x, y) = (left(place), middle(place) - height / 2)
    val latency = node(Measure.E2ELatency)
    val ownMs = path.own(node)
    val share = path.share(ownMs)
    val together = folded.hidden.get(node.id)
    val style = (Seq("latency-node") ++ Option.when(critical.contains(node.id))("latency-critical") ++
      together.map(_ => "latency-folded")).mkString(" ")
    val ages =
      s"avg ${Readable.duration(latency.avg)} · p99 ${Readable.duration(latency.percentile(99).map(_.toDouble))}"
    val own = s"here ${Readable.duration(ownMs)}"
    val name = together.fold(node.id)(ids => s"${ids.size} nodes, ${ids.mkString(", ")}")
    val opacity = math.round(share.getOrElse(0.0) * Heat * 100) / 100f
    val short = together.fold(Readable.shortened(node.id, IdLength))(ids => s"${ids.size} nodes")
    val shown = Seq(
      Svg.element("title")(
        XmlText.escape(
          s"$name: $ages; $own, ${share.fold(Readable.Unknown)(Readable.percent)} of the whole${atWork(node.id, together).fold("")("; " + _)}"
        )
      ),
      Svg.rect("latency-box", x, y, Width, height, "rx" -> 4),
      Svg.rect("latency-heat", x, y, Width, height, "rx" -> 4, "fill-opacity" -> opacity),
      text(x + 10, y + 20, "latency-id", short),
      text(x + 10, y + 38, "latency-ages", ages),
      text(x + 10, y + 55, "latency-own", own),
      text(x + Width - 10, y + 55, "latency-share", share.fold(Readable.Unknown)(Readable.percent))
    ) ++ workOf(node.id, together, x, y)
    Svg.element("a", "href" -> href(node.id), "class" -> style)(shown: _*)
  }

  private def operatorLatency(of: Seq[String]): Option[Double] = {
    val known = of.flatMap(operators.get)
    Option.when(known.nonEmpty)(known.sum)
  }

  /** A part of the batch, of what is on the critical path of operators. */
  private def workShare(of: Seq[String]): Option[Double] = {
    val known = of.flatMap(id => work.flatMap(_.path.share(id)))
    Option.when(known.nonEmpty)(known.sum.min(1.0))
  }

  private def atWork(id: String, together: Option[Seq[String]]): Option[String] = work.map { _ =>
    val of = together.getOrElse(Seq(id))
    val share = workShare(of).fold("")(share => s", ${Readable.percent(share)} of the batch")
    s"operators at work ${Readable.duration(operatorLatency(of))}$share"
  }

  private def workOf(id: String, together: Option[Seq[String]], x: Double, y: Double): Seq[String] =
    if (work.isEmpty) Nil
    else {
      val of = together.getOrElse(Seq(id))
      val share = workShare(of)
      Seq(text(x + 10, y + 73, "latency-work", s"at work ${Readable.duration(operatorLatency(of))}")) ++
        share.toSeq.flatMap(share =>
          Seq(
            text(x + Width - 10, y + 73, "latency-work-share", Readable.percent(share)),
            bar("latency-work-track", x, y, Width - 20),
            bar("latency-work-bar", x, y, ((Width - 20) * share).max(Thinnest))
          )
        )
    }

  private def bar(style: String, x: Double, y: Double, width: Double): String =
    Svg.rect(style, x + 10, y + 79, width, 4)

  private def text(x: Double, y: Double, style: String, text: String): String =
    Svg.element("text", "class" -> style, "x" -> x, "y" -> y)(XmlText.escape(text))

  private def left(place: Place): Double = Margin + place.column * (Width + Gap)

  private def middle(place: Place): Double =
    Margin + height / 2 + (place.row + (layout.rows - 1) / 2) * (height + Between)

  private def point(x: Double, y: Double): String = s"${Svg.number(x)} ${Svg.number(y)}"
}

object GraphDrawing {
  private val Width = 186.0
  private val Height = 64.0
  private val WorkHeight = 26.0
  private val Thinnest = 2.0
  private val Gap = 44.0
  private val Between = 18.0
  private val Margin = 2.0
  private val Arrow = 6.0
  private val IdLength = 21

  /** How small a drawing may become beside its own size: then its text is 8 pixels high. */
  private val Smallest = 0.66

  /** Opacity of the warmest node. Text on it stays readable, on a light and on a dark page. */
  private val Heat = 0.5
}
