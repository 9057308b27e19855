package org.apache.spark.sql.latency

import scala.collection.mutable

import io.sparklatency.figures.FiguresListener
import io.sparklatency.figures.FiguresSettings
import io.sparklatency.figures.LiveRuns
import io.sparklatency.figures.MarkOwner
import io.sparklatency.figures.Measure
import io.sparklatency.figures.NodeKey
import io.sparklatency.recording.LatencySummary
import io.sparklatency.time.ManualClock
import org.apache.spark.sql.latency.history.LatencyStore
import org.apache.spark.util.kvstore.InMemoryStore
import org.scalatest.funsuite.AnyFunSuite

/** A page of one query costs as much however many others there are. In Spark's package for what only ours may call. */
class OneQueryReadSuite extends AnyFunSuite {
  private val asked = mutable.ArrayBuffer.empty[String]
  private val runs = new LiveRuns(
    new ManualClock(1000),
    FiguresSettings(),
    FiguresListener.Nowhere,
    uncommitted = run => { asked += run; None }
  )(_.stopped)

  for (name <- Seq("one", "two", "three")) {
    val owner = MarkOwner(NodeKey(name, "sink"), Some(s"$name-id"), Some(s"$name-run"))
    runs.update(owner)(_.add("sink", Measure.E2ELatency, LatencySummary.empty))
  }

  for (key <- Seq("two", "two-id", "two-run"))
    test(s"who asks for '$key' has no snapshot taken of other queries") {
      asked.clear()
      assert(new LatencyStore(new InMemoryStore, Some(runs)).query(key).map(_.name) === Some("two"))
      assert(asked === Seq("two-run"))
    }

  test("of a query that is not there none is taken") {
    asked.clear()
    assert(new LatencyStore(new InMemoryStore, Some(runs)).query("four").isEmpty && asked.isEmpty)
  }
}
