package org.apache.spark.sql.latency

import java.util.UUID

import io.sparklatency.answer.Note
import io.sparklatency.figures.FiguresListener
import io.sparklatency.figures.FiguresSettings
import io.sparklatency.figures.LiveRuns
import io.sparklatency.figures.MarkOwner
import io.sparklatency.figures.Measure
import io.sparklatency.figures.NodeKey
import io.sparklatency.figures.PublishedPart
import io.sparklatency.figures.ReadingId
import io.sparklatency.recording.LatencyRecorder
import io.sparklatency.spark.Logged
import io.sparklatency.time.ManualClock
import org.apache.spark.Success
import org.apache.spark.TaskEndReason
import org.apache.spark.TaskKilled
import org.apache.spark.scheduler.SparkListenerTaskEnd
import org.apache.spark.scheduler.TaskInfo
import org.apache.spark.scheduler.TaskLocality
import org.apache.spark.sql.latency.tracking.LatencyTracker
import org.apache.spark.sql.latency.tracking.PlannedMarks
import org.apache.spark.sql.latency.tracking.Problems
import org.apache.spark.sql.latency.tracking.QueryNames
import org.apache.spark.sql.latency.tracking.RunNotes
import org.apache.spark.sql.latency.tracking.TaskClocks
import org.apache.spark.sql.latency.tracking.UncommittedRecords
import org.apache.spark.sql.streaming.StreamingQueryListener.QueryTerminatedEvent
import org.scalatest.funsuite.AnyFunSuite

/** What Spark's events make of figures, without a session. In Spark's own package for its events. */
class LatencyTrackerSuite extends AnyFunSuite {
  private val clock = new ManualClock(1000)

  private def part(task: Long): PublishedPart = {
    val recorder = new LatencyRecorder(clock)
    recorder.record(0)
    val owner = MarkOwner(NodeKey("orders", "sink"), Some("id"), Some("run"))
    PublishedPart(
      owner,
      ReadingId(planning = 1, task, number = 0, task.toInt),
      endless = false,
      recorder.summary(),
      None
    )
  }

  private def end(task: Long, reason: TaskEndReason): SparkListenerTaskEnd = {
    val info = new TaskInfo(task, 0, 0, 0, 0L, "1", "host", TaskLocality.ANY, speculative = false)
    SparkListenerTaskEnd(0, 0, "ResultTask", reason, info, null, null)
  }

  private val (runs, notes) =
    (new LiveRuns(clock, FiguresSettings(), FiguresListener.Nowhere)(_.stopped), new RunNotes)

  private def trackerWith(clocks: TaskClocks) = new LatencyTracker(
    runs,
    new QueryNames,
    new UncommittedRecords,
    new PlannedMarks,
    new Problems,
    notes,
    clocks,
    _ => ()
  )

  private val tracker = trackerWith(new TaskClocks(_ => None))

  test("what a task has published while it ran stands if it ends well, and falls if it fails") {
    def records = runs.snapshot().flatMap(_.nodes).map(_.measures(Measure.E2ELatency).total.records).sum
    Seq(1L, 2L, 3L).foreach(task => runs.publish(part(task)))
    tracker.onTaskEnd(end(1, Success))
    assert(records === 3)
    tracker.onTaskEnd(end(2, TaskKilled("on purpose")))
    assert(records === 2)
  }

  test("what was told of a run is kept until it ends") {
    val (run, note) = (UUID.randomUUID, Note("a-code", Note.Info, "A sentence."))
    assert(Seq.fill(2)(notes.add(run.toString, note)) === Seq(true, false))
    tracker.onOtherEvent(new QueryTerminatedEvent(UUID.randomUUID, run, None, None))
    assert(notes.add(run.toString, note))
  }

  test("a problem is told once, and again when a thousand others were told since") {
    val problems = new Problems
    val logged = Logged.during {
      (0 to 1000).foreach(number => problems.tellOnce("any", s"problem $number."))
      Seq(1000, 0).foreach(number => problems.tellOnce("any", s"problem $number."))
    }
    assert(logged.count(_.contains("problem 1000.")) === 1)
    assert(logged.count(_.contains("problem 0.")) === 2)
  }

  test("a class that is missing when a task ends does not end the application, and the log says so once") {
    val broken = trackerWith(new TaskClocks(_ => throw new NoClassDefFoundError("org/apache/spark/Moved")))
    val logged = Logged.during(Seq(4L, 5L).foreach(task => broken.onTaskEnd(end(task, Success))))
    assert(logged.count(_.contains("org/apache/spark/Moved")) === 1)
  }
}
