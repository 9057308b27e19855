package io.sparklatency.spark.base

import scala.util.Try

import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.catalyst.util.IntervalUtils
import org.apache.spark.unsafe.types.CalendarInterval
import org.apache.spark.unsafe.types.UTF8String

/** An interval as a user writes it. Without state, for any thread. */
object IntervalText {

  /** More is a mistake in the unit: a window would wait for a year. */
  val LongestMs: Long = 366L * 24 * 60 * 60 * 1000

  /** None if it is none, or null. */
  def read(text: String): Option[CalendarInterval] =
    Option(text).flatMap(text => Option(IntervalUtils.safeStringToInterval(UTF8String.fromString(text))))

  /** None where Spark's arithmetic overflows, as it does where an interval is of millions of days. */
  def millis(interval: CalendarInterval): Option[Long] = Try(EventTimeWatermark.getDelayMs(interval)).toOption

  /** The same for the sign: then that of the days. */
  def isNegative(interval: CalendarInterval): Boolean =
    Try(IntervalUtils.isNegative(interval)).getOrElse(interval.days < 0)
}
