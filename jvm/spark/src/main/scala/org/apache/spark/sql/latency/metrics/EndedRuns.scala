package org.apache.spark.sql.latency.metrics

/**
 * Takes the figures of runs that have ended from an executor. Spark tells an executor nothing of that, so it asks the driver,
 * through the plugin, once in a while and only while it shows a run: see [[DriverQuestions]].
 *
 * One daemon thread for an executor. Costs the driver a message of a few ids.
 *
 * @param shown the runs that the executor shows
 * @param ask   gives back those of these runs that have ended
 * @param ended takes the figures of a run away
 */
private[latency] final class EndedRuns(
    shown: () => Seq[String],
    ask: Array[String] => Array[String],
    ended: String => Unit,
    periodMs: Long = EndedRuns.PeriodMs
) {
  private val questions = new DriverQuestions(
    "sparklatency-ended-runs",
    firstMs = periodMs,
    periodMs,
    "The driver does not say which queries have ended: their figures stay."
  )(() => forgetEnded())

  def stop(): Unit = questions.stop()

  private def forgetEnded(): Unit = {
    val runs = shown()
    if (runs.nonEmpty) ask(runs.toArray).foreach(ended)
  }
}

private[latency] object EndedRuns {
  val PeriodMs = 5000L
}
