package org.apache.spark.sql.latency.history

/**
 * What pages have made of one batch, which stays as it is, or of all that are kept of a run. So of a page that somebody looks at again
 * only the new batch is new. It stays as long as the store has the batch, or the run: see [[StoredBatch]] and [[StoredRun]].
 *
 * Keeps at most [[MadeOfBatch.Most]] things. Thread-safe; two threads may make the same.
 */
private[latency] final class MadeOfBatch {
  import MadeOfBatch._

  @volatile private var known = Map.empty[Of[_], Any]

  /** @param of all that `make` reads beside the batch */
  def apply[A](of: Of[A])(make: => A): A = get(of).getOrElse(keep(of, make))

  def get[A](of: Of[A]): Option[A] = known.get(of).asInstanceOf[Option[A]]

  /** In the place of what was kept of it. */
  def keep[A](of: Of[A], made: A): A = synchronized {
    known = (if (known.size < Most || known.contains(of)) known else Map.empty[Of[_], Any]) + (of -> made)
    made
  }
}

private[latency] object MadeOfBatch {

  /** What is made: whoever keeps an `A` has a class of its own that extends this. */
  trait Of[A]

  /** The charts of a page that names nodes, of one that names none, and what all pages have. */
  val Most = 10
}
