package org.apache.spark.sql.latency.history

/**
 * What pages have made of one batch, which stays as it is. So of a page that somebody looks at again only the new batch is new. It stays
 * as long as the store has the batch: see [[StoredBatch]].
 *
 * Keeps at most [[MadeOfBatch.Most]] things, together 2 to 3 KB where a page names no nodes. Thread-safe; two threads may make the same.
 */
private[latency] final class MadeOfBatch {
  import MadeOfBatch._

  @volatile private var known = Map.empty[Of[_], Any]

  /** @param of all that `make` reads beside the batch */
  def apply[A](of: Of[A])(make: => A): A = known.get(of).fold {
    val made = make
    known = (if (known.size < Most) known else Map.empty[Of[_], Any]) + (of -> made)
    made
  }(_.asInstanceOf[A])
}

private[latency] object MadeOfBatch {

  /** What is made: whoever keeps an `A` has a class of its own that extends this. */
  trait Of[A]

  /** The charts of a page that names nodes, of one that names none, and what all pages have. */
  val Most = 10
}
