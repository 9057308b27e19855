package io.sparklatency.recording

/** How old records are at a time, in milliseconds since the epoch. */
final case class Ages(atMs: Long, summary: LatencySummary)

object Ages {

  /** How old all of these records are at another time. */
  def at(ms: Long, ages: Iterable[Ages]): LatencySummary =
    LatencySummary.later(ages.map(one => one.summary -> (ms - one.atMs)))
}
