package io.sparklatency.drawing

import java.time.Instant
import java.time.LocalDateTime
import java.time.ZoneId
import java.time.ZoneOffset
import java.time.format.DateTimeFormatter

import io.sparklatency.answer.Readable

/** A few places on an axis, each at a round number, and how they are written. */
private[drawing] final case class Ticks[A](places: Seq[A], label: A => String)

private[drawing] object Ticks {
  private val Second = 1000L
  private val Minute = 60 * Second
  private val Hour = 60 * Minute
  private val Day = 24 * Hour

  /** How many steps an axis has at the most. */
  private val Most = 5

  private val below = Seq(1L, 10L, 100L).flatMap(ten => Seq(ten, 2 * ten, 5 * ten))
  private val sexagesimal = Seq(1L, 2L, 5L, 10L, 15L, 30L)
  private val above = Iterator.iterate(Day)(_ * 10).takeWhile(_ > 0).take(10).flatMap(ten =>
    Iterator(ten, 2 * ten, 5 * ten)
  ).toList
  private val steps = below ++ sexagesimal.map(_ * Second) ++ sexagesimal.map(_ * Minute) ++
    Seq(1L, 2L, 3L, 6L, 12L).map(_ * Hour) ++ above

  /** Milliseconds, from below the least to above the greatest. */
  def ofDurations(least: Double, greatest: Double): Ticks[Double] = {
    val step = stepOf(greatest - least)
    val (from, to) = (math.floor(least / step).toInt, math.max(1, math.ceil(greatest / step).toInt))
    Ticks((from to to).map(_ * step.toDouble), inUnitOf(step))
  }

  /** So that 75 seconds between a minute and 90 seconds stay 75 seconds. */
  private def inUnitOf(step: Long)(ms: Double): String =
    Seq("d" -> Day, "h" -> Hour, "min" -> Minute, "s" -> Second).find { case (_, size) => step % size == 0 }
      .filter(_ => ms != 0).fold(Readable.duration(ms)) { case (unit, size) =>
        s"${Readable.count(math.round(ms / size))} $unit"
      }

  /** Round times of day in that zone, from the first to the last. Where there is none between, the first. */
  def ofTimes(firstMs: Long, lastMs: Long, zone: ZoneId): Ticks[Long] = {
    val step = stepOf((lastMs - firstMs).toDouble).max(Second)
    val offset = zone.getRules.getOffset(Instant.ofEpochMilli(firstMs)).getTotalSeconds * Second
    val first = Math.floorDiv(firstMs + offset + step - 1, step) * step - offset
    // Where a clock is changed meanwhile, a day has not 24 hours.
    def place(ms: Long) =
      if (step <= Hour) ms else wallTime(ms + offset).atZone(zone).toInstant.toEpochMilli
    val ofStep = if (step < Minute) secondsOfDay else if (step < Day) minutesOfDay else daysOfYear
    val round =
      Iterator.iterate(first)(_ + step).map(place).dropWhile(_ < firstMs).takeWhile(_ <= lastMs).toList
    val clock = (if (round.isEmpty) secondsOfDay else ofStep).withZone(zone)
    Ticks(if (round.isEmpty) Seq(firstMs) else round, ms => clock.format(Instant.ofEpochMilli(ms)))
  }

  /** What a clock on the wall shows, so many milliseconds since it showed the beginning of the epoch. */
  private def wallTime(ms: Long): LocalDateTime =
    LocalDateTime.ofInstant(Instant.ofEpochMilli(ms), ZoneOffset.UTC)

  /** A time of day with its date, to the second. */
  def second(ms: Long, zone: ZoneId): String = Instant.ofEpochMilli(ms).atZone(zone).format(seconds)

  private val seconds = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss")
  private val secondsOfDay = DateTimeFormatter.ofPattern("HH:mm:ss")
  private val minutesOfDay = DateTimeFormatter.ofPattern("HH:mm")
  private val daysOfYear = DateTimeFormatter.ofPattern("MM-dd")
  private val days = DateTimeFormatter.ofPattern("yyyy-MM-dd")

  /** The date of an axis of times, or its first and its last one, and the zone. */
  def dates(firstMs: Long, lastMs: Long, zone: ZoneId): String = {
    val clock = days.withZone(zone)
    val dates = Seq(firstMs, lastMs).map(ms => clock.format(Instant.ofEpochMilli(ms))).distinct
    s"${dates.mkString(" to ")}, ${zone.getId}"
  }

  private def stepOf(range: Double): Long = steps.find(range / _ <= Most).getOrElse(steps.last)
}
