package org.apache.spark.sql.latency.history

import scala.collection.immutable.NumericRange

import org.scalatest.funsuite.AnyFunSuite

/** A page that is looked at again looks up only the batches that have come and gone. */
class SeenBatchesSuite extends AnyFunSuite {

  private def stored(number: Long) = new StoredBatch(StoredBatch.key("run", number), null)

  /** Batches of these numbers, by which they are found. */
  private final class Store(numbers: Long*) {
    private val seen = new SeenBatches
    private var there = numbers.map(number => number -> stored(number)).toMap
    private var looked = 0
    private var missed = 0

    def come(number: Long): Unit = there += number -> stored(number)
    def gone(number: Long): Unit = there -= number
    def at(number: Long): StoredBatch = there(number)

    /** How often a batch was looked for that is not there. */
    def misses: Int = missed

    private def found(number: Long) = {
      if (!there.contains(number)) missed += 1
      there.get(number)
    }

    /** The numbers of all, and how often somebody looked through the store so far. */
    def look(
        read: Long => Option[StoredBatch] = found,
        kept: Option[NumericRange[Long]] = Option.when(there.nonEmpty)(there.keys.min to there.keys.max)
    ): (Seq[Long], Int) = {
      val found = seen(read, kept) {
        looked += 1
        there.values.toVector.sortBy(-_.number)
      }
      assert(found.forall(batch => there(batch.number) eq batch), "no other than those that are stored")
      (found.map(_.number), looked)
    }
  }

  test("batches that come and go are found without a look through the store") {
    val store = new Store(0, 1, 2)
    assert(store.look() === ((Seq(2, 1, 0), 1)))
    assert(store.look() === ((Seq(2, 1, 0), 1)))
    Seq(3L, 4L).foreach(store.come)
    Seq(0L, 1L).foreach(store.gone)
    assert(store.look() === ((Seq(4, 3, 2), 1)))
    store.come(5)
    assert(store.look() === ((Seq(5, 4, 3, 2), 1)))
    (2L to 4L).foreach(store.gone)
    assert(store.look() === ((Seq(5), 1)))
    assert(store.misses === 0, "a store takes long to say that it has none")
  }

  test("of a run whose batches are others, or gone, nothing is known from before") {
    val store = new Store(0, 1)
    store.look()
    Seq(0L, 1L).foreach(store.gone)
    assert(store.look() === ((Nil, 2)))
    (0L to 2L).foreach(store.come)
    assert(store.look() === ((Seq(2, 1, 0), 3)))
    (0L to 3L).foreach(store.come)
    assert(store.look() === ((Seq(3, 2, 1, 0), 4)), "three of them in another's place")
  }

  test("where all that were known go while somebody looks, the store is looked through") {
    val store = new Store(0)
    store.look()
    store.come(2)
    def going(number: Long) = Option.when(number == 0)(store.at(0)) // 1 has gone since the run told of it
    assert(store.look(going, Some(1L to 1L)) === ((Seq(2, 0), 2)))
  }

  test("of a store that gives another batch each time nothing is kept") {
    val store = new Store(0, 1)
    def fromDisk(number: Long) = Option.when(number < 2)(stored(number))
    assert((1 to 3).map(_ => store.look(fromDisk)._2) === Seq(1, 2, 3))
  }
}
