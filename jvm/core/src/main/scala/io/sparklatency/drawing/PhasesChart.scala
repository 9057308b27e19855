package io.sparklatency.drawing

import java.time.Instant
import java.time.ZoneId
import java.time.format.DateTimeFormatter

import io.sparklatency.answer.Readable

/**
 * Draws what batches spent their time on as SVG, a bar for each, and how many rows a second they read as a line. The page sets
 * the colours, as in [[GraphDrawing]].
 *
 * @param batches oldest first
 * @param zone    the time zone of the hints
 */
final class PhasesChart(batches: Seq[PhasesChart.Bar], zone: ZoneId) {
  import PhasesChart._

  private val ticks = Ticks.ofDurations(0, batches.map(_.whole).maxOption.getOrElse(1L).max(1L).toDouble)
  private val fastest = batches.map(_.rate).maxOption.getOrElse(0.0)
  private val clock = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss").withZone(zone)
  private val step = (Width - Left - Right) / batches.size.max(Fewest)

  def svg: String = Svg.element(
    "svg",
    "xmlns" -> "http://www.w3.org/2000/svg",
    "class" -> "latency-chart",
    "viewBox" -> s"0 0 ${Svg.number(Width)} ${Svg.number(Height)}",
    "role" -> "img",
    "aria-label" -> s"what the last ${Readable.counted(batches.size.toLong, "batch", "batches")} spent their time on"
  )((axes ++ batches.zipWithIndex.map((bar _).tupled) ++ rates): _*)

  private def axes: Seq[String] = ticks.places.flatMap { ms =>
    Seq(
      Svg.element(
        "line",
        "class" -> "latency-grid",
        "x1" -> Left,
        "x2" -> (Width - Right),
        "y1" -> y(ms),
        "y2" -> y(ms)
      )(),
      label(Left - 6, y(ms) + 4, "end", ticks.label(ms))
    )
  } ++ Seq(0, batches.size - 1).distinct.filter(_ >= 0).map(i =>
    label(
      x(i) + step / 2,
      Height - 6,
      if (i == 0) "start" else "end",
      s"batch ${Readable.count(batches(i).batch)}"
    )
  )

  private def label(x: Double, y: Double, anchor: String, text: String): String =
    Svg.element("text", "class" -> "latency-tick", "x" -> x, "y" -> y, "text-anchor" -> anchor)(
      Svg.escape(text)
    )

  private def bar(batch: Bar, i: Int): String = {
    val tops = batch.phases.scanLeft(0.0) { case (below, (_, ms)) => below + ms }
    val boxes = batch.phases.zip(tops).collect {
      case ((name, ms), below) if y(below) - y(below + ms) >= Visible =>
        rectangle(s"latency-phase latency-phase-$name", i, below + ms, below)
    }
    Svg.element("g")(
      Svg.element("title")(Svg.escape(told(batch))) +: boxes :+
        rectangle("latency-hint", i, ticks.places.last, 0): _*
    )
  }

  private def rectangle(style: String, i: Int, upper: Double, lower: Double): String = Svg.element(
    "rect",
    "class" -> style,
    "x" -> x(i),
    "y" -> y(upper),
    "width" -> step * Thick,
    "height" -> (y(lower) - y(upper))
  )()

  /** Nothing where no rows were read. */
  private def rates: Seq[String] = if (fastest <= 0) Nil
  else {
    val points = batches.zipWithIndex.map { case (batch, i) =>
      s"${Svg.number(x(i) + step * Thick / 2)},${Svg.number(y(ticks.places.last * batch.rate / fastest))}"
    }
    Seq(
      Svg.element("polyline", "class" -> "latency-rate", "points" -> points.mkString(" "))(),
      label(Width - Right + 6, y(ticks.places.last) + 4, "start", perSecond(fastest)),
      label(Width - Right + 6, y(0) + 4, "start", perSecond(0))
    )
  }

  private def told(batch: Bar): String = {
    val phases = batch.phases.map { case (name, ms) => s"$name ${Readable.duration(ms.toDouble)}" }
    (Seq(
      s"batch ${Readable.count(batch.batch)}",
      clock.format(Instant.ofEpochMilli(batch.startMs))
    ) ++ phases ++
      Seq(Readable.counted(batch.rows, "row", "rows"), perSecond(batch.rate))).mkString(" · ")
  }

  private def perSecond(rate: Double): String = s"${Readable.count(math.round(rate))} rows/s"

  private def x(i: Int): Double = Left + step * i

  private def y(ms: Double): Double = Height - Bottom - (Height - Top - Bottom) * ms / ticks.places.last
}

object PhasesChart {

  /** How many batches are shown at the most. */
  val Most = 60

  /** What the phases of a batch are called in Spark's progress, in their order. What no phase holds comes last. */
  val Phases: Seq[String] =
    Seq("latestOffset", "getBatch", "queryPlanning", "walCommit", "addBatch", "commitOffsets", Other)

  final val Other = "other"

  /**
   * @param startMs when the batch was triggered
   * @param phases  in milliseconds, in their order
   */
  final case class Bar(batch: Long, startMs: Long, phases: Seq[(String, Long)], rows: Long) {
    def whole: Long = phases.map { case (_, ms) => ms }.sum
    def rate: Double = if (whole == 0) 0 else rows * 1000.0 / whole
  }

  /** @param durationsMs as Spark's progress has them; that of the whole is `triggerExecution` */
  def bar(batch: Long, startMs: Long, durationsMs: Map[String, Long], rows: Long): Option[Bar] = {
    val known = Phases.flatMap(name => durationsMs.get(name).map(name -> _.max(0)))
    val rest = durationsMs.get("triggerExecution").map(_ - known.map { case (_, ms) => ms }.sum)
    val phases = known ++ rest.filter(_ > 0).map(Other -> _)
    Option.when(phases.nonEmpty)(Bar(batch, startMs, phases, rows))
  }

  private val Width = 720.0
  private val Height = 180.0
  private val Left = 60.0
  private val Right = 84.0
  private val Top = 10.0
  private val Bottom = 26.0

  /** A few batches do not fill the chart. */
  private val Fewest = 20

  /** A phase of less height cannot be seen, and most phases have less. */
  private val Visible = 0.1

  /** Of the place of a bar. */
  private val Thick = 0.8
}
