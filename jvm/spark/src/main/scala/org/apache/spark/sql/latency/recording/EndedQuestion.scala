package org.apache.spark.sql.latency.recording

/**
 * An executor asks which of some runs of queries have ended. It holds only types of the JDK, as [[PublishedMessage]] does. The
 * answer is an array of their ids.
 */
private[latency] object EndedQuestion {
  private val Kind = "ended"

  def apply(runs: Array[String]): AnyRef = Array[AnyRef](Kind, runs)

  def unapply(message: AnyRef): Option[Array[String]] = message match {
    case Array(Kind, runs: Array[String]) => Some(runs)
    case _ => None
  }
}
