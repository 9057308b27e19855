package io.sparklatency.figures

import scala.collection.mutable

/**
 * Ids of which others come again and again, where a function makes them up. At least the newest are known, and all that came last. Not
 * thread-safe.
 *
 * @param most so many at the least
 */
private[figures] final class NewestIds(most: Int) {
  private val known = mutable.LinkedHashSet.empty[String] // the newest last

  /** Those have come. Gives back which are forgotten for it: many at once, so that the caller need not look through all he has each time. */
  def come(ids: Seq[String]): Set[String] = {
    known --= ids
    known ++= ids
    val kept = most.max(ids.size)
    val gone = if (known.size > 2 * kept) known.take(known.size - kept).toSet else Set.empty[String]
    known --= gone
    gone
  }
}
