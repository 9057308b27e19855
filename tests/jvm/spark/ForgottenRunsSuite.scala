package org.apache.spark.sql.latency

import java.util.{Map => JMap}

import scala.jdk.CollectionConverters._

import io.sparklatency.figures.Batch
import io.sparklatency.figures.Measure
import io.sparklatency.figures.NodeLatencies
import io.sparklatency.recording.LatencyRecorder
import io.sparklatency.time.ManualClock
import org.apache.spark.sql.latency.history.BatchArchive
import org.apache.spark.sql.latency.history.StoredBatch
import org.apache.spark.sql.latency.history.StoredRun
import org.apache.spark.util.kvstore.InMemoryStore
import org.scalatest.funsuite.AnyFunSuite

/** What the store of a driver keeps of runs that were let go. In Spark's package for what only ours may call. */
class ForgottenRunsSuite extends AnyFunSuite {
  private val store = new InMemoryStore
  private val archive = new BatchArchive(store, kept = 3)

  private def add(run: Int, batch: Long): Unit = {
    val recorder = new LatencyRecorder(new ManualClock(1000))
    recorder.record(0)
    val nodes = Seq(NodeLatencies("n", Nil, Map(Measure.E2ELatency -> recorder.summary())))
    val (query, at) = (s"query-$run", 1000L * run + batch)
    archive.onOtherEvent(SparkListenerLatencyBatch(
      Batch(query, None, Some(s"run-$run"), batch, at, at, 1, Map.empty, None, Nil, 0, nodes)
    ))
  }

  /** Whatever Spark's store holds: by the class of what is stored and the name of its field, how many there are. */
  private def held: Map[(Class[_], String), Int] = {
    def field(of: AnyRef, name: String) = {
      val found = of.getClass.getDeclaredField(name)
      found.setAccessible(true)
      found.get(of)
    }
    val lists = field(field(store, "inMemoryLists"), "data").asInstanceOf[JMap[Class[_], AnyRef]].asScala
    for ((stored, list) <- lists.toMap; name <- Seq("data", "parentToChildrenMap"))
      yield (stored, name) -> field(list, name).asInstanceOf[JMap[_, _]].size
  }

  test("of runs beyond the limit the store of a driver keeps nothing, not even that they were") {
    for (run <- 1 to 300; batch <- 0L to 4L) add(run, batch)
    val batch = classOf[StoredBatch]: Class[_]
    // Ten times as many batches as each run may have are kept, of the newest runs.
    assert(held((classOf[StoredRun], "data")) === held((batch, "parentToChildrenMap")))
    assert(held((batch, "data")) <= 3 * held((batch, "parentToChildrenMap")))
    assert(held((batch, "parentToChildrenMap")) <= 11)
  }
}
