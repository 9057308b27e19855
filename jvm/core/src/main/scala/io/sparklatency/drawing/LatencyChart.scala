package io.sparklatency.drawing

import java.time.Instant
import java.time.ZoneId
import java.time.format.DateTimeFormatter

import io.sparklatency.answer.Readable
import io.sparklatency.recording.LatencySummary

/**
 * Draws a node's latency over time as SVG: a band from the median to the 99th percentile, the mean and the maximum. Where
 * nothing was measured there is a gap. The page sets the colours, as in [[GraphDrawing]].
 *
 * @param points oldest first
 * @param zone   the time zone of the axis
 */
final class LatencyChart(points: Seq[LatencyChart.Point], zone: ZoneId) {
  import LatencyChart._

  private val drawn = points.map(new Drawn(_))
  private val measured = drawn.filter(_.isMeasured)
  private val (firstMs, lastMs) = (points.head.atMs, points.last.atMs)
  private val levels = Ticks.ofDurations(
    measured.map(_.lowest).minOption.getOrElse(0.0).min(0),
    measured.map(_.max).maxOption.getOrElse(1.0).max(0)
  )
  private val times = Ticks.ofTimes(firstMs, lastMs, zone)
  private val clock = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss").withZone(zone)

  def svg: String = Svg.element(
    "svg",
    "xmlns" -> "http://www.w3.org/2000/svg",
    "class" -> "latency-chart",
    "viewBox" -> s"0 0 ${Svg.number(Width)} ${Svg.number(Height)}",
    "role" -> "img",
    "aria-label" -> "latency over time"
  )((axes ++ unbroken.flatMap(lines) ++ hints): _*)

  private def axes: Seq[String] = levels.places.flatMap { ms =>
    Seq(
      Svg.element(
        "line",
        "class" -> "latency-grid",
        "x1" -> Left,
        "x2" -> (Width - Right),
        "y1" -> y(ms),
        "y2" -> y(ms)
      )(),
      label(Left - 6, y(ms) + 4, "end", levels.label(ms))
    )
  } ++ times.places.map(ms => label(x(ms), Height - Bottom + 16, "middle", times.label(ms))) :+
    label(Width - Right, Height - 4, "end", Ticks.dates(firstMs, lastMs, zone))

  private def label(x: Double, y: Double, anchor: String, text: String): String =
    Svg.element(
      "text",
      "class" -> "latency-tick",
      "x" -> x,
      "y" -> y,
      "text-anchor" -> anchor
    )(Svg.escape(text))

  /** Stretches without a gap. */
  private def unbroken: Seq[Seq[Drawn]] =
    drawn.foldLeft(Vector(Vector.empty[Drawn])) { (stretches, point) =>
      if (point.isMeasured) stretches.init :+ (stretches.last :+ point)
      else if (stretches.last.isEmpty) stretches
      else stretches :+ Vector.empty
    }.filter(_.nonEmpty)

  private def lines(stretch: Seq[Drawn]): Seq[String] = Seq(
    Svg.element(
      "polygon",
      "class" -> "latency-band",
      "points" -> (line(stretch, _.p99) + " " + line(stretch.reverse, _.p50))
    )(),
    Svg.element("polyline", "class" -> "latency-max", "points" -> line(stretch, _.max))(),
    Svg.element("polyline", "class" -> "latency-avg", "points" -> line(stretch, _.avg))()
  )

  /** A stretch of one point becomes a dash, so that it can be seen. */
  private def line(stretch: Seq[Drawn], value: Drawn => Double): String = {
    def at(x: Double, point: Drawn) = s"${Svg.number(x)},${Svg.number(y(value(point)))}"
    stretch match {
      case Seq(one) => s"${at(x(one.atMs) - 2, one)} ${at(x(one.atMs) + 2, one)}"
      case many => many.map(point => at(x(point.atMs), point)).mkString(" ")
    }
  }

  /** The tooltips of the points. */
  private def hints: Seq[String] = {
    val edges = points.zip(points.drop(1)).map { case (one, next) => (x(one.atMs) + x(next.atMs)) / 2 }
    drawn.zip((Left +: edges).zip(edges :+ (Width - Right))).map { case (point, (start, end)) =>
      Svg.element(
        "rect",
        "class" -> "latency-hint",
        "x" -> start,
        "y" -> Top,
        "width" -> (end - start),
        "height" -> (Height - Top - Bottom)
      )(Svg.element("title")(Svg.escape(point.told(clock))))
    }
  }

  private def x(ms: Long): Double =
    if (lastMs == firstMs) (Left + Width - Right) / 2
    else Left + (Width - Left - Right) * (ms - firstMs) / (lastMs - firstMs)

  private def y(ms: Double): Double =
    Height - Bottom - (Height - Top - Bottom) * (ms - levels.places.head) / (levels.places.last - levels.places.head)
}

object LatencyChart {

  /** @param atMs when the last of these records' batches was committed */
  final case class Point(atMs: Long, latency: LatencySummary)

  /** More points cannot be seen apart. Neighbours then share a point; no record is left out. */
  val MaxPoints = 240

  def of(history: Seq[Point], zone: ZoneId): LatencyChart =
    new LatencyChart(
      history.grouped((history.size + MaxPoints - 1) / MaxPoints).map { together =>
        Point(together.last.atMs, LatencySummary.merge(together.map(_.latency)))
      }.toList,
      zone
    )

  private val Width = 720.0
  private val Height = 196.0
  private val Left = 60.0
  private val Right = 30.0
  private val Top = 10.0
  private val Bottom = 42.0

  private final class Drawn(point: Point) {
    private val percentiles = point.latency.percentiles(Seq(50, 99)).map(_.fold(0.0)(_.toDouble))
    def isMeasured: Boolean = point.latency.count > 0
    def atMs: Long = point.atMs
    val p50: Double = percentiles.head
    val p99: Double = percentiles.last
    val avg: Double = point.latency.avg.getOrElse(0.0)
    val max: Double = point.latency.max.fold(0.0)(_.toDouble)
    def lowest: Double = p50.min(avg)

    def told(clock: DateTimeFormatter): String = {
      val figures =
        if (!isMeasured) "no record with a timestamp"
        else Seq("p50" -> p50, "avg" -> avg, "p99" -> p99, "max" -> max)
          .map { case (name, ms) => s"$name ${Readable.duration(ms)}" }.mkString(" · ")
      s"${clock.format(Instant.ofEpochMilli(atMs))} · $figures"
    }
  }
}
