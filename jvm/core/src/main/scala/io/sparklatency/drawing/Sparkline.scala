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

  private val highest = values.flatten.maxOption.getOrElse(1L).max(1L)

  /** Empty without two values: one is no way that it went. */
  def svg: String =
    if (values.flatten.size < 2) ""
    else {
      val told = s"$name of the last ${Readable.count(values.size.toLong)} batches, " +
        s"${Readable.duration(values.flatten.min.toDouble)} to ${Readable.duration(highest.toDouble)}"
      Svg.element(
        "svg",
        "xmlns" -> "http://www.w3.org/2000/svg",
        "class" -> "latency-sparkline",
        "viewBox" -> s"0 0 ${Svg.number(Width)} ${Svg.number(Height)}",
        "role" -> "img",
        "aria-label" -> told
      )(Svg.element("title")(Svg.escape(told)) +: stretches.map(line): _*)
    }

  private def stretches: Seq[Seq[(Int, Long)]] =
    values.zipWithIndex.foldLeft(Vector(Vector.empty[(Int, Long)])) {
      case (stretches, (Some(ms), i)) => stretches.init :+ (stretches.last :+ (i -> ms))
      case (stretches, (None, _)) => stretches :+ Vector.empty
    }.filter(_.nonEmpty)

  /** A stretch of one value becomes a dash, so that it can be seen: a window gives out once in many batches. */
  private def line(stretch: Seq[(Int, Long)]): String = {
    val points = (stretch match {
      case Seq((i, ms)) => Seq(x(i) - Dash -> y(ms), x(i) + Dash -> y(ms))
      case several => several.map { case (i, ms) => x(i) -> y(ms) }
    }).map { case (x, y) => s"${Svg.number(x)},${Svg.number(y)}" }
    Svg.element("polyline", "points" -> points.mkString(" "))()
  }

  private def x(i: Int): Double = 1 + (Width - 2) * i / (values.size - 1)
  private def y(ms: Long): Double = Height - 1 - (Height - 2) * ms.max(0).toDouble / highest
}

object Sparkline {
  private val Width = 90.0
  private val Height = 18.0
  private val Dash = 1.0
}
