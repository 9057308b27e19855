package io.sparklatency.drawing

import java.time.ZoneId

import io.sparklatency.answer.Readable
import io.sparklatency.recording.LatencySummary

/**
 * Draws a node's latency over time as SVG: a band from the median to the 99th percentile, the mean and the maximum. Where
 * nothing was measured there is a gap. The page sets the colours, as in [[GraphDrawing]].
 *
 * @param drawn oldest first
 * @param zone  the time zone of the axis
 */
final class LatencyChart(drawn: Seq[LatencyChart.Drawn], zone: ZoneId) {
  import LatencyChart._

  // Where the clock was set back, the first batch need not have the earliest time.
  private val (firstMs, lastMs) = (drawn.minBy(_.atMs).atMs, drawn.maxBy(_.atMs).atMs)
  private val levels = Ticks.ofDurations(
    drawn.foldLeft(0.0)((least, point) => least.min(point.lowest)),
    drawn.foldLeft(0.0)((most, point) => most.max(point.max))
  )
  private val times = Ticks.ofTimes(firstMs, lastMs, zone)

  private val frame = new ChartFrame(levels, Height, right = 30, bottom = 42)
  import frame.{from, to, y}

  def svg: String = {
    val stretches = Stretches.of(drawn.map(point => Option.when(point.isMeasured)(point)))
    frame.svg("latency over time")(axis ++ stretches.flatMap(lines) :+ hints)
  }

  private def axis: Seq[String] =
    times.places.map(ms => frame.label(x(ms), frame.base + 16, "middle", times.label(ms))) :+
      frame.label(to, Height - 4, "end", Ticks.dates(firstMs, lastMs, zone))

  private def lines(stretch: List[Drawn]): Seq[String] = {
    val points =
      Stretches.placed(stretch, Dash)(point => x(point.atMs)).map { case (x, point) =>
        Svg.number(x) -> point
      }
    val back = if (stretch.size == 1) points else points.reverse
    Seq(
      Svg.element(
        "polygon",
        "class" -> "latency-band",
        "points" -> line(back, _.p50, line(points, _.p99))
      )(),
      Svg.element("polyline", "class" -> "latency-max", "points" -> line(points, _.max))(),
      Svg.element("polyline", "class" -> "latency-avg", "points" -> line(points, _.avg))()
    )
  }

  /** @param before what it goes on from */
  private def line(
      stretch: Seq[(String, Drawn)],
      value: Drawn => Double,
      before: StringBuilder = new StringBuilder
  ): StringBuilder = {
    stretch.foreach { case (x, point) => Svg.point(x, y(value(point)), before) }
    before
  }

  /** The tooltips of the points. Each reaches halfway to its neighbours. */
  private def hints: String = {
    val text = new StringBuilder
    val (top, bottom) = (Svg.number(frame.top), Svg.number(frame.base))
    val others = drawn.iterator.drop(1)
    drawn.foldLeft(Svg.number(from)) { (start, point) =>
      val end = Svg.number(if (others.hasNext) (x(point.atMs) + x(others.next().atMs)) / 2 else to)
      Svg.hint(point.told, start, top, end, bottom)(text)
      end
    }
    Svg.hints(text)
  }

  private def x(ms: Long): Double =
    if (lastMs == firstMs) (from + to) / 2
    else from + (to - from) * (ms - firstMs) / (lastMs - firstMs)
}

object LatencyChart {

  /** @param atMs when the last of these records' batches was committed */
  final case class Point(atMs: Long, latency: LatencySummary)

  /** Then a chart as wide as it becomes has a point every four pixels. Lines are two wide: more points cannot be seen apart. */
  val MaxPoints = 160

  /**
   * Which batches share a point where there are too many of them, one after another: their places, where the newest has the first. Their
   * numbers say which: one batch more or less moves no other from its point to the next, unless each point must take one more.
   *
   * @param newest its number. Each has one more than the batch before
   */
  def sharing(batches: Int, newest: Long): Seq[Range] =
    if (batches <= MaxPoints) (0 until batches).map(i => i to i)
    else {
      // The first and the last point may have fewer than the others.
      val most = (batches + MaxPoints - 2) / (MaxPoints - 1)
      val first = (newest % most).toInt + 1
      (0 until first) +: (first until batches by most).map(i => i until (i + most).min(batches))
    }

  /**
   * A point as a chart shows it, for whoever draws it again and again: without the histogram that its figures come from. Takes about
   * two hundred bytes.
   *
   * @param told the hint, escaped, with the time in the zone of the axis
   */
  final case class Drawn private (
      atMs: Long,
      isMeasured: Boolean,
      p50: Double,
      p99: Double,
      avg: Double,
      max: Double,
      told: String
  ) {
    private[LatencyChart] def lowest: Double = p50.min(avg)
  }

  object Drawn {
    def apply(point: Point, zone: ZoneId): Drawn = {
      val latency = point.latency
      val isMeasured = latency.count > 0
      val percentiles = latency.percentiles(Seq(50, 99)).map(_.fold(0.0)(_.toDouble))
      val (p50, p99, avg, max) =
        (percentiles.head, percentiles.last, latency.avg.getOrElse(0.0), latency.max.fold(0.0)(_.toDouble))
      val figures =
        if (!isMeasured) "no record with a timestamp"
        else Seq("p50" -> p50, "avg" -> avg, "p99" -> p99, "max" -> max)
          .map { case (name, ms) => s"$name ${Readable.duration(ms)}" }.mkString(" · ")
      val told = XmlText.escape(s"${Ticks.second(point.atMs, zone)} · $figures")
      new Drawn(point.atMs, isMeasured, p50, p99, avg, max, told)
    }
  }

  private val Height = 196.0
  private val Dash = 2.0
}
