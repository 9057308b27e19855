package io.sparklatency.spark.base

import scala.util.control.NonFatal

/**
 * What goes wrong with us, and must not go wrong with the query. That includes a class or method that is missing, for instance
 * because the jar is another Spark line's: Scala's `NonFatal` would let that pass. A pattern without state, for any thread.
 */
object OurFailure {
  def unapply(thrown: Throwable): Option[Throwable] = thrown match {
    case missing: LinkageError => Some(missing)
    case NonFatal(other) => Some(other)
    case _ => None
  }
}
