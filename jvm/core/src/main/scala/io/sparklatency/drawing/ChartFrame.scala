package io.sparklatency.drawing

/**
 * What charts have in common: a box as wide as they all are, with margins, lines across it at round durations, and small text.
 *
 * @param levels of the lines, lowest first
 * @param height of all
 * @param right  the margin there
 * @param bottom the margin there
 */
private[drawing] final class ChartFrame(
    levels: Ticks[Double],
    height: Double,
    right: Double,
    bottom: Double
) {
  import ChartFrame._

  /** The ends of the lines. */
  val (from, to) = (Margin, Width - right)

  /** How far up and down a chart goes. */
  val (top, base) = (Top, height - bottom)

  private val (lowest, highest) = (levels.places.head, levels.places.last)

  /** Where a duration stands. */
  def y(ms: Double): Double = base - (base - top) * (ms - lowest) / (highest - lowest)

  /** @param says what a reader hears who does not see it */
  def svg(says: String)(parts: Seq[String]): String =
    Svg.root("latency-chart", Width, height, "img", says)((lines ++ parts): _*)

  private def lines: Seq[String] = levels.places.flatMap { ms =>
    Seq(
      Svg.element(
        "line",
        "class" -> "latency-grid",
        "x1" -> from,
        "x2" -> to,
        "y1" -> y(ms),
        "y2" -> y(ms)
      )(),
      label(from - 6, y(ms) + 4, "end", levels.label(ms))
    )
  }

  /** @param anchor which part of the text stands at that place: `start`, `middle` or `end` */
  def label(x: Double, y: Double, anchor: String, text: String): String =
    Svg.element("text", "class" -> "latency-tick", "x" -> x, "y" -> y, "text-anchor" -> anchor)(
      XmlText.escape(text)
    )
}

private[drawing] object ChartFrame {
  private val Width = 720.0
  private val Margin = 60.0
  private val Top = 10.0
}
