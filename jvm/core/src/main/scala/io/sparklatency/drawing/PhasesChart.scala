package io.sparklatency.drawing

import java.time.ZoneId

import io.sparklatency.answer.Readable
import io.sparklatency.figures.Phase

/**
 * Draws what batches spent their time on as SVG, a bar for each, and how many rows a second they read as a line. The page sets
 * the colours, as in [[GraphDrawing]].
 *
 * @param drawn oldest first
 */
final class PhasesChart(drawn: Seq[PhasesChart.Drawn]) {
  import PhasesChart._

  private val batches = drawn.map(_.bar)

  private val ticks = Ticks.ofDurations(0, batches.map(_.whole).maxOption.getOrElse(1L).max(1L).toDouble)
  private val frame = new ChartFrame(ticks, Height, right = 84, bottom = 26)
  import frame.{from, to, y}

  private val fastest = batches.map(_.rate).maxOption.getOrElse(0.0)
  private val step = (to - from) / batches.size.max(Fewest)

  /** Of each bar, left and right. */
  private val edges = batches.indices.map(i => Svg.number(x(i)) -> Svg.number(x(i) + step * Thick))

  def svg: String = {
    val batches = Readable.counted(this.batches.size.toLong, "batch", "batches")
    frame.svg(s"what the last $batches spent their time on")(axis ++ bars ++ rates :+ hints)
  }

  /** The first batch and the last one, each below its bar; in one label where two would lie on one another. */
  private def axis: Seq[String] = {
    def label(bar: Int, anchor: String, text: String) =
      frame.label(x(bar) + step / 2, Height - 6, anchor, text)
    val last = batches.size - 1
    batches.map(bar => Readable.count(bar.batch)) match {
      case Seq() => Nil
      case Seq(only) => Seq(label(0, "start", s"batch $only"))
      case several =>
        val ends = Seq(several.head, several.last)
        val both = ends.map(number => s"batch $number")
        if (step * last >= both.map(_.length).sum * Letter + Apart)
          Seq(label(0, "start", both.head), label(last, "end", both.last))
        else Seq(label(0, "start", s"batches ${ends.mkString(" to ")}"))
    }
  }

  /** Each phase of all batches in one shape. */
  private def bars: Seq[String] = {
    val shapes = Phases.map(_ -> new StringBuilder).toMap
    drawn.zip(edges).foreach { case (batch, (left, right)) =>
      batch.bar.phases.foldLeft(0.0) { case (below, (name, ms)) =>
        val (upper, lower) = (y(below + ms), y(below))
        if (lower - upper >= Visible)
          Svg.area(left, Svg.number(upper), right, Svg.number(lower))(shapes(name))
        below + ms
      }
    }
    Phases.filter(shapes(_).nonEmpty).map(name =>
      Svg.element("path", "class" -> s"latency-phase latency-phase-$name", "d" -> shapes(name))()
    )
  }

  private def hints: String = {
    val hints = new StringBuilder
    val (top, bottom) = (Svg.number(frame.top), Svg.number(frame.base))
    drawn.zip(edges).foreach { case (batch, (left, right)) =>
      Svg.hint(batch.told, left, top, right, bottom)(hints)
    }
    Svg.hints(hints)
  }

  /** Nothing where no rows were read. */
  private def rates: Seq[String] = if (fastest <= 0) Nil
  else {
    val points = new StringBuilder
    batches.zipWithIndex.foreach { case (batch, i) =>
      val at = y(ticks.places.last * batch.rate / fastest)
      Svg.point(Svg.number(x(i) + step * Thick / 2), at, points)
    }
    Seq(
      Svg.element("polyline", "class" -> "latency-rate", "points" -> points)(),
      frame.label(to + 6, frame.top + 4, "start", perSecond(fastest)),
      frame.label(to + 6, frame.base + 4, "start", perSecond(0))
    )
  }

  private def x(i: Int): Double = from + step * i
}

object PhasesChart {
  def of(batches: Seq[Bar], zone: ZoneId): PhasesChart = new PhasesChart(batches.map(Drawn(_, zone)))

  /** How many batches are shown at the most. */
  val Most = 60

  /** In their order. What no phase holds comes last. */
  val Phases: Seq[String] = Phase.all :+ Other

  final val Other = "other"

  /**
   * @param startMs when the batch was triggered
   * @param phases  in milliseconds, in their order
   */
  final case class Bar(batch: Long, startMs: Long, phases: Seq[(String, Long)], rows: Long) {
    val whole: Long = phases.map { case (_, ms) => ms }.sum
    val rate: Double = if (whole == 0) 0 else rows * 1000.0 / whole
  }

  /**
   * A bar for whoever draws it again and again. Takes about half a kilobyte.
   *
   * @param told the hint, escaped, with the time in its zone
   */
  final case class Drawn private (bar: Bar, told: String)

  object Drawn {
    def apply(bar: Bar, zone: ZoneId): Drawn = {
      val phases = bar.phases.map { case (name, ms) => s"$name ${Readable.duration(ms.toDouble)}" }
      val told = (Seq(s"batch ${Readable.count(bar.batch)}", Ticks.second(bar.startMs, zone)) ++ phases ++
        Seq(Readable.counted(bar.rows, "row", "rows"), perSecond(bar.rate))).mkString(" · ")
      new Drawn(bar, XmlText.escape(told))
    }
  }

  private def perSecond(rate: Double): String = s"${Readable.count(math.round(rate))} rows/s"

  /** @param durationsMs as Spark's progress has them */
  def bar(batch: Long, startMs: Long, durationsMs: Map[String, Long], rows: Long): Option[Bar] = {
    val known = Phases.flatMap(name => durationsMs.get(name).map(name -> _.max(0)))
    val rest = durationsMs.get(Phase.Whole).map(_ - known.map { case (_, ms) => ms }.sum)
    val phases = known ++ rest.filter(_ > 0).map(Other -> _)
    Option.when(phases.nonEmpty)(Bar(batch, startMs, phases, rows))
  }

  private val Height = 180.0

  /** A few batches do not fill the chart. */
  private val Fewest = 20

  /** How wide a letter of a label is at the most, on average. */
  private val Letter = 7

  /** Between two labels. */
  private val Apart = 10

  /** A phase of less height cannot be seen, and most phases have less. */
  private val Visible = 0.1

  /** Of the place of a bar. */
  private val Thick = 0.8
}
