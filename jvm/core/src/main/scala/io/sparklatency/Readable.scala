package io.sparklatency

import java.util.Locale

/** Figures and ids as people read them at a glance. */
object Readable {

  /** What is unknown, everywhere; never 0. */
  val Unknown = "–"

  private val units = Seq("ms" -> 1.0, "s" -> 1000.0, "min" -> 60000.0, "h" -> 3600000.0, "d" -> 86400000.0)

  /** A duration in the largest unit of which there is at least one, with two digits at the least: `340 ms`, `4.2 s`, `25 min`. */
  def duration(ms: Double): String = {
    val (unit, size) =
      units.reverse.find { case (_, size) => rounded(ms.abs / size) >= 1 }.getOrElse(units.head)
    s"${decimal(rounded(ms / size))} $unit"
  }

  def duration(ms: Option[Double]): String = ms.fold(Unknown)(duration)

  /** Milliseconds without their unit, for a column of them; a mean has one decimal. */
  def milliseconds(mean: Double): String = String.format(Locale.ROOT, "%,.1f", Double.box(tenths(mean)))

  def count(n: Long): String = String.format(Locale.ROOT, "%,d", Long.box(n))

  /** A part of a whole, between 0 and 1. */
  def percent(share: Double): String =
    if (share > 0 && share < 0.01) "< 1 %" else s"${math.round(share * 100)} %"

  /** At most `length` characters: the middle goes, so that ids which end differently stay different. */
  def shortened(id: String, length: Int): String =
    if (id.codePointCount(0, id.length) <= length) id
    else {
      val tail = (length - 1) / 2
      val head = length - 1 - tail
      id.substring(
        0,
        id.offsetByCodePoints(0, head)
      ) + "…" + id.substring(id.offsetByCodePoints(id.length, -tail))
    }

  private def rounded(value: Double): Double =
    if (value.abs < 9.95) tenths(value) else math.round(value).toDouble

  /** Never the negative zero that formats would show as such. */
  private def tenths(value: Double): Double = math.round(value * 10) / 10.0

  private def decimal(value: Double): String = if (value.isWhole) count(value.toLong) else value.toString
}
