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

  private val ticks = Ticks.ofDurations(0, drawn.foldLeft(1.0)((most, bar) => most.max(bar.whole.toDouble)))
  private val frame = new ChartFrame(ticks, Height, right = 84, bottom = 26)
  import frame.{from, to, y}

  private val fastest = drawn.foldLeft(0.0)((most, bar) => most.max(bar.rate))
  private val step = (to - from) / drawn.size.max(Fewest)

  /** Of each bar, left and right. */
  private val edges = drawn.indices.map(i => Svg.number(x(i)) -> Svg.number(x(i) + step * Thick))

  def svg: String = {
    val batches = Readable.counted(drawn.size.toLong, "batch", "batches")
    frame.svg(s"what the last $batches spent their time on")(axis ++ bars ++ rates :+ hints)
  }

  /** The first batch and the last one, each below its bar; in one label where two would lie on one another. */
  private def axis: Seq[String] = {
    def label(bar: Int, anchor: String, text: String) =
      frame.label(x(bar) + step / 2, Height - 6, anchor, text)
    val last = drawn.size - 1
    drawn match {
      case Seq() => Nil
      case Seq(only) => Seq(label(0, "start", s"batch ${Readable.count(only.batch)}"))
      case several =>
        val ends = Seq(several.head, several.last).map(bar => Readable.count(bar.batch))
        val both = ends.map(number => s"batch $number")
        if (step * last >= both.map(_.length).sum * Letter + Apart)
          Seq(label(0, "start", both.head), label(last, "end", both.last))
        else Seq(label(0, "start", s"batches ${ends.mkString(" to ")}"))
    }
  }

  /** Each phase of all batches in one shape. */
  private def bars: Seq[String] = {
    val shapes = Phases.indices.map(_ => new StringBuilder)
    drawn.iterator.zip(edges.iterator).foreach { case (batch, (left, right)) =>
      var (below, lower) = (0L, y(0))
      shapes.indices.foreach { phase =>
        below += batch.ms(phase).max(0)
        val upper = y(below.toDouble)
        if (lower - upper >= Visible)
          Svg.area(left, Svg.number(upper), right, Svg.number(lower))(shapes(phase))
        lower = upper
      }
    }
    Phases.zip(shapes).filter { case (_, shape) => shape.nonEmpty }.map { case (name, shape) =>
      Svg.element("path", "class" -> s"latency-phase latency-phase-$name", "d" -> shape)()
    }
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
    drawn.iterator.zipWithIndex.foreach { case (batch, i) =>
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

  /** Those of which some batch tells. */
  def told(drawn: Seq[Drawn]): Seq[String] =
    Phases.zipWithIndex.collect { case (name, phase) if drawn.exists(_.ms(phase) >= 0) => name }

  /**
   * A bar for whoever draws it again and again, in as few objects as can be: they are not in any cache of the processor when a page is
   * asked for. Takes about 350 bytes.
   *
   * @param ms   of each of all phases; negative where the batch does not tell it
   * @param told the hint, escaped, with the time in its zone
   */
  final class Drawn private (
      private[PhasesChart] val batch: Long,
      private[PhasesChart] val whole: Long,
      private[PhasesChart] val rate: Double,
      private[PhasesChart] val ms: Array[Long],
      private[PhasesChart] val told: String
  )

  object Drawn {
    def apply(bar: Bar, zone: ZoneId): Drawn = {
      val phases = bar.phases.map { case (name, ms) => s"$name ${Readable.duration(ms.toDouble)}" }
      val told = (Seq(s"batch ${Readable.count(bar.batch)}", Ticks.second(bar.startMs, zone)) ++ phases ++
        Seq(Readable.counted(bar.rows, "row", "rows"), perSecond(bar.rate))).mkString(" · ")
      val ms = bar.phases.toMap
      new Drawn(
        bar.batch,
        bar.whole,
        bar.rate,
        Phases.map(ms.getOrElse(_, -1L)).toArray,
        XmlText.escape(told)
      )
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
