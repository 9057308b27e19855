package io.sparklatency.figures

/** What a watermark goes by. Its name stands in event logs and in REST. */
sealed abstract class WatermarkKind(val name: String) {
  override def toString: String = name
}

object WatermarkKind {

  /** The greatest event time that was seen: `withWatermark`. Without events it stands still. */
  case object EventTime extends WatermarkKind("event-time")

  /** The clock: `withSystemTimeWatermark`. */
  case object SystemTime extends WatermarkKind("system-time")

  /** An event names the second kind only: those that were written before there were two name none. */
  def of(name: String): WatermarkKind = if (name == SystemTime.name) SystemTime else EventTime
}
