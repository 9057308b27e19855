package io.sparklatency.answer

import java.util.Locale

/** How the run of a streaming query goes, or how it ended. */
sealed abstract class RunStatus(word: String) extends Product with Serializable {

  /** As on Spark's own pages. */
  override def toString: String = word

  /** As in Spark's REST. */
  def name: String = word.toUpperCase(Locale.ROOT)
}

object RunStatus {
  case object Running extends RunStatus("Running")
  case object Finished extends RunStatus("Finished")

  /** An error ended it. */
  case object Failed extends RunStatus("Failed")
}
