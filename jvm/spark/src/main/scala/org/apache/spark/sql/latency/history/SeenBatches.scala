package org.apache.spark.sql.latency.history

import java.lang.ref.WeakReference

import scala.collection.immutable.NumericRange

/**
 * The batches of a run that a page has looked through, for the next look. A store in memory sorts all that it has of a run at each look,
 * and gives the same ones again. Between two looks a few have come, and as many have gone: the run tells which, and only those that have
 * come are looked up. One that is not there costs the most: the store throws.
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
   * @param kept the numbers of those that the run keeps
   * @param all  looks through the store
   */
  def apply(read: Long => Option[StoredBatch], kept: => Option[NumericRange[Long]])(
      all: => Vector[StoredBatch]
  ): Vector[StoredBatch] = {
    val seen = last
    // What has gone by itself is the oldest, which the store has let go.
    val before = seen.map(_.get).takeWhile(_ != null)
    val known = for {
      newest <- before.headOption if read(newest.number).exists(_ eq newest)
      kept <- kept
    } yield {
      val come = kept.dropWhile(_ <= newest.number).flatMap(read(_)).reverse.toVector
      val left = before.takeWhile(_.number >= kept.start)
      if (come.nonEmpty || left.size < seen.size) last = come.map(new WeakReference(_)) ++ seen.take(left.size)
      come ++ left
    }
    // None are left where those that came have gone meanwhile.
    known.filter(_.nonEmpty).getOrElse {
      val now = all
      last = now.map(new WeakReference(_))
      now
    }
  }
}
