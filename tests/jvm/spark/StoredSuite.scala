package org.apache.spark.sql.latency.history

import org.apache.spark.util.kvstore.InMemoryStore
import org.scalatest.funsuite.AnyFunSuite

/** What is looked up in Spark's store, which throws where it has nothing. */
class StoredSuite extends AnyFunSuite {

  private final class Store extends InMemoryStore {
    var reads = 0
    override def read[A](of: Class[A], key: Object): A = {
      reads += 1
      super.read(of, key)
    }
  }

  test("what is stored is found, and of what nothing at all is stored nothing is read") {
    val store = new Store
    def end(run: String) = Stored(store, classOf[StoredEnd], run).map(_.hasFailed)
    assert((end("one"), store.reads) === ((None, 0)))
    store.write(new StoredEnd("one", true, null))
    assert((end("one"), end("another"), store.reads) === ((Some(true), None, 2)))
  }
}
