package org.apache.spark.sql.latency.history

import java.lang.ref.WeakReference

/**
 * The batches of a run that a page has looked through, for the next look. A store in memory sorts all that it has of a run at each look,
 * and gives the same ones again. Between two looks a few have come, and as many have gone: only those are looked up then.
 *
 * Keeps none from being let go: once the store has let go of a batch, or has read it from disk for us alone, it may go. Thread-safe; two
 * threads may look at once.
 */
private[history] final class SeenBatches {
  @volatile private var last = Vector.empty[WeakReference[StoredBatch]]

  /**
   * All of them, the newest first.
   *
   * @param read finds one by its number
   * @param all  looks through the store
   */
  def apply(read: Long => Option[StoredBatch])(all: => Vector[StoredBatch]): Vector[StoredBatch] = {
    def isThere(batch: StoredBatch) = read(batch.number).exists(_ eq batch)
    val seen = last
    // What has gone by itself is the oldest, which the store has let go.
    val before = seen.map(_.get).takeWhile(_ != null)
    val known = before.headOption.filter(isThere).map { newest =>
      val come = Iterator.from(1).map(next => read(newest.number + next)).takeWhile(_.nonEmpty).flatten
        .toVector.reverse
      val left = before.lastIndexWhere(isThere) + 1
      if (come.nonEmpty || left < seen.size) last = come.map(new WeakReference(_)) ++ seen.take(left)
      come ++ before.take(left)
    }
    // None are left where those that came have gone meanwhile.
    known.filter(_.nonEmpty).getOrElse {
      val now = all
      last = now.map(new WeakReference(_))
      now
    }
  }
}
