package io.sparklatency.spark.base

import scala.language.implicitConversions

import org.apache.spark.sql.Column

/**
 * Which column says when a record happened: a TIMESTAMP, a TIMESTAMP_NTZ (in the session's time zone), or a window, whose end
 * counts. A name or a `Column` can stand wherever one of these is asked for.
 *
 * Says only what the user said: the column is looked for, and a mistake found, when a mark is made. Immutable, for any
 * thread.
 */
sealed trait RecordTimestamp

/** The ways to say it, and the conversions from a name and a Column. */
object RecordTimestamp {

  /** The one column that has a watermark. */
  case object Watermarked extends RecordTimestamp

  /** A column by its name. Dots lead into a struct, backticks keep a dot in the name. */
  final case class Named(column: String) extends RecordTimestamp

  /** A column, or a deterministic expression over the columns of the row. */
  final case class Given(column: Column) extends RecordTimestamp

  implicit def fromName(column: String): RecordTimestamp = Named(column)
  implicit def fromColumn(column: Column): RecordTimestamp = Given(column)
}
