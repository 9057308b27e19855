package org.apache.spark.sql.latency

import scala.collection.mutable

import io.sparklatency.figures.MarkOwner
import io.sparklatency.figures.NodeKey
import io.sparklatency.figures.PublishedPart
import io.sparklatency.figures.ReadingId
import io.sparklatency.recording.LatencyRecorder
import io.sparklatency.spark.Lines.StreamingQueryWrapper
import io.sparklatency.spark.StreamingTest
import io.sparklatency.spark.syntax._
import io.sparklatency.time.ManualClock
import org.apache.spark.scheduler.SparkListenerExecutorMetricsUpdate
import org.apache.spark.scheduler.SparkListenerLogStart
import org.apache.spark.sql.latency.application.LatencyApplication
import org.apache.spark.sql.latency.recording.PublishedMessage
import org.apache.spark.sql.latency.tracking.LostEnds
import org.apache.spark.sql.latency.tracking.QueryNames
import org.apache.spark.sql.streaming.StreamingQueryListener.QueryTerminatedEvent

/** Ends of runs of which Spark has dropped the event. In Spark's own package for its queries. */
class LostEndsSuite extends StreamingTest {
  test(
    "a run that has ended without a word is told to have ended, once, when its last events have had their time"
  ) {
    val names = new QueryNames
    val time = new ManualClock(Start)
    val told = mutable.Buffer.empty[QueryTerminatedEvent]
    var dropped = 0L
    val lost = new LostEnds(names, () => dropped, time)({ end =>
      told += end
      names.forget(end.runId): Unit
    })
    def after(ms: Long): Int = {
      time.advance(ms)
      lost.onOtherEvent(SparkListenerLogStart(""))
      told.size
    }
    val queries = Seq.fill(2)(start(stream.toDF(), freshNode()))
    try {
      queries.foreach(query => names.of(query.asInstanceOf[StreamingQueryWrapper].streamingQuery))
      queries.head.stop()
      assert(Seq.fill(3)(after(LostEnds.EveryMs)) === Seq(0, 0, 0), "as long as no event was dropped")
      dropped = 1
      assert(after(LostEnds.EveryMs) === 0)
      assert(after(LostEnds.EveryMs - 1) === 0)
      assert(after(1) === 1)
      assert(told.map(end => (end.id, end.runId, end.exception)) === Seq((
        queries.head.id,
        queries.head.runId,
        None
      )))
      assert(Seq.fill(3)(after(LostEnds.EveryMs)) === Seq(1, 1, 1), "the other one goes on")
      queries(1).stop()
      for (_ <- 1 to 2) {
        time.advance(LostEnds.EveryMs)
        lost.onExecutorMetricsUpdate(SparkListenerExecutorMetricsUpdate("driver", Nil)) // while nothing runs
      }
      assert(told.map(_.runId) === queries.map(_.runId))
    } finally queries.foreach(_.stop())
  }

  test("what a batch has published stands no more behind the next one, though its own end was not told") {
    val (input, name) = (stream, freshNode())
    val query = start(input.toDF().withE2ELatency("sink", "value"), name)
    def records: Long = {
      input.addData(ago(1))
      processAll(query)
      node("sink", name).records
    }
    try {
      assert(records === 1)
      val recorder = new LatencyRecorder(clock)
      recorder.record(0)
      val owner = MarkOwner(NodeKey(name, "sink"), Some(query.id.toString), Some(query.runId.toString))
      val reading = ReadingId(planning = -1, task = -2, number = 3, partition = 4)
      val part = PublishedPart(owner, reading, endless = false, recorder.summary(), None)
      LatencyApplication.receive(PublishedMessage(part)): Unit
      assert(node("sink", name).records === 2)
      assert(records === 2)
    } finally query.stop()
  }
}
