package org.apache.spark.sql.latency.history

import java.util.LinkedHashMap
import java.util.Map.Entry

/**
 * What was made of the runs that were asked for last. Pages and documents are asked for again and again, and between two batches nothing
 * of a run that is stored changes.
 *
 * Each is kept beside all that it was made of, and stands as long as that is equal. Summaries and the arrays of events are equal to
 * nothing but themselves: a store in memory gives the same ones again until a batch comes, a store on disk reads new ones each time.
 * There what batches show is made anew, as all is of a run that goes on, whose figures are of another instant each time.
 *
 * Keeps the last of each run, of at most [[KeptOfRuns.Most]] runs. Thread-safe; two threads may make the same.
 */
private[latency] final class KeptOfRuns[A] {
  import KeptOfRuns._

  private val ofRuns = new LinkedHashMap[String, Kept[A]](Most, 0.75f, true) {
    override def removeEldestEntry(eldest: Entry[String, Kept[A]]): Boolean = size > Most
  }

  /** @param of all that `make` reads and that may be another the next time */
  def apply(run: String, of: Any*)(make: => A): A =
    synchronized(Option(ofRuns.get(run))).filter(_.of == of).fold {
      val made = make
      synchronized(ofRuns.put(run, new Kept(of, made)))
      made
    }(_.made)
}

private object KeptOfRuns {
  private val Most = 16

  private final class Kept[A](val of: Seq[Any], val made: A)
}
