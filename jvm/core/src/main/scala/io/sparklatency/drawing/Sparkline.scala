package io.sparklatency.drawing

import io.sparklatency.answer.Readable

/**
 * A line as high as a word that shows how a latency went, batch by batch, from 0 up. Where nothing was measured there is a gap.
 *
 * @param name   what it shows
 * @param values in milliseconds, oldest first
 */
final class Sparkline(name: String, values: Seq[Option[Long]]) {
  import Sparkline._

  // Of the scale, which has a height also where all are 0.
  private val highest = values.flatten.maxOption.getOrElse(1L).max(1L)

  /** Empty without two values: one is no way that it went. */
  def svg: String =
    if (values.flatten.size < 2) ""
    else {
      val ends = Seq(values.flatten.min, values.flatten.max).map(ms => Readable.duration(ms.toDouble))
      val told = s"$name of the last ${Readable.count(values.size.toLong)} batches, ${ends.mkString(" to ")}"
      val title = Svg.element("title")(XmlText.escape(told))
      Svg.root("latency-sparkline", Width, Height, "img", told)(title +: stretches.map(line): _*)
    }

  private def stretches: Seq[List[(Int, Long)]] =
    Stretches.of(values.zipWithIndex.map { case (value, i) => value.map(i -> _) })

  private def line(stretch: List[(Int, Long)]): String = {
    val points = new StringBuilder
    Stretches.placed(stretch, Dash) { case (i, _) => x(i) }
      .foreach { case (x, (_, ms)) => Svg.point(Svg.number(x), y(ms), points) }
    Svg.element("polyline", "points" -> points.result())()
  }

  private def x(i: Int): Double = 1 + (Width - 2) * i / (values.size - 1)
  private def y(ms: Long): Double = Height - 1 - (Height - 2) * ms.max(0).toDouble / highest
}

object Sparkline {
  private val Width = 90.0
  private val Height = 18.0
  private val Dash = 1.0
}
