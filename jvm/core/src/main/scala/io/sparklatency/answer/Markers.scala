package io.sparklatency.answer

import io.sparklatency.figures.MarkerKey
import io.sparklatency.figures.MarkerSnapshot
import io.sparklatency.figures.MarkersSnapshot

/** What is said of the latency markers of a query. */
object Markers {

  /** How long they take to the commit, or why nobody knows. */
  def text(markers: MarkersSnapshot): String = {
    val commits = markers.of.filter(_.key.operator == MarkerKey.Commit)
    val every = markers.settings.intervalMs.fold("")(ms =>
      s" At most one batch in ${Readable.duration(ms.toDouble)} carries them."
    )
    if (markers.count == 0) s"No batch that carries a latency marker has been committed yet.$every"
    else slowest(commits).fold(s"No latency marker is known at the commit.$every") { slowest =>
      val from = slowest.key.source.fold("")(id => s" from ${Readable.name(id)}")
      val when = if (slowest.isQuiet) " in the last batch that carried them" else ""
      s"Latency markers take ${Readable.duration(slowest.latest.avg)}$from to the commit, on average$when.$every"
    }
  }

  /** Of the sources that were read within the window; of all if none was. */
  private def slowest(commits: Seq[MarkerSnapshot]): Option[MarkerSnapshot] = {
    val known = commits.filter(_.latest.count > 0)
    val (quiet, live) = known.partition(_.isQuiet)
    (if (live.nonEmpty) live else quiet).maxByOption(_.latest.avg)
  }
}
