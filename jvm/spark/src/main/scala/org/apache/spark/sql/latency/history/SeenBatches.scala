package org.apache.spark.sql.latency.history

import java.lang.ref.SoftReference

/**
 * The batches of a run that a page has looked through, for the next look. A store in memory sorts all that it has of a run at each look,
 * and gives the same ones again. Between two looks a few have come, and as many have gone: only those are looked up then.
 *
 * A store on disk reads another one each time: of it nothing is kept. What is kept goes where memory is short. Thread-safe; two threads may
 * look at once.
 */
private[history] final class SeenBatches {
  @volatile private var last = new SoftReference(Vector.empty[StoredBatch])

  /**
   * All of them, the newest first.
   *
   * @param read finds one by its number
   * @param all  looks through the store
   */
  def apply(read: Long => Option[StoredBatch])(all: => Vector[StoredBatch]): Vector[StoredBatch] = {
    def isThere(batch: StoredBatch) = read(batch.number).exists(_ eq batch)
    val before = Option(last.get).getOrElse(Vector.empty)
    val now = before.headOption.filter(isThere).fold(all) { newest =>
      val come = Iterator.from(1).map(next => read(newest.number + next)).takeWhile(_.nonEmpty).flatten
      come.toVector.reverse ++ before.take(before.lastIndexWhere(isThere) + 1)
    }
    last = new SoftReference(if (now.headOption.exists(isThere)) now else Vector.empty)
    now
  }
}
