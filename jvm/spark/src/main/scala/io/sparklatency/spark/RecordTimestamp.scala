package io.sparklatency.spark

import scala.language.implicitConversions

import org.apache.spark.sql.Column

/**
 * Which column says when a record happened: TIMESTAMP, TIMESTAMP_NTZ (in the session's time zone), or a window, whose end it is.
 * A name or a `Column` can stand wherever one of these is asked for.
 */
sealed trait RecordTimestamp

object RecordTimestamp {

  /** The one column that has a watermark. */
  case object Watermarked extends RecordTimestamp
  final case class Named(column: String) extends RecordTimestamp
  final case class Given(column: Column) extends RecordTimestamp

  implicit def fromName(column: String): RecordTimestamp = Named(column)
  implicit def fromColumn(column: Column): RecordTimestamp = Given(column)
}
