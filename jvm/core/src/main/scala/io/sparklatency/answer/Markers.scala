package io.sparklatency.answer

import io.sparklatency.figures.MarkerKey
import io.sparklatency.figures.MarkersSnapshot

/** What is said of the latency markers of a query. */
object Markers {

  /** How long they take to the commit, or why nobody knows. */
  def text(markers: MarkersSnapshot): String = {
    val commits = markers.of.filter(_.key.operator == MarkerKey.Commit)
    val every = markers.settings.intervalMs.fold("")(ms =>
      s" A batch carries them every ${Readable.duration(ms.toDouble)}."
    )
    if (markers.count == 0) s"No batch that carries a latency marker has been committed yet.$every"
    else commits.filter(
      _.latest.count > 0
    ).maxByOption(_.latest.avg).fold(s"No latency marker is known at the commit.$every") {
      slowest =>
        val from = slowest.key.source.fold("")(id => s" from ${Readable.name(id)}")
        val when = if (slowest.isQuiet) " in the last batch that carried them" else ""
        s"Latency markers take ${Readable.duration(slowest.latest.avg)}$from to the commit, on average$when.$every"
    }
  }
}
