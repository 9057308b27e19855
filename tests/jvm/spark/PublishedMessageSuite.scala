package org.apache.spark.sql.latency

import io.sparklatency.figures.MarkOwner
import io.sparklatency.figures.Measure
import io.sparklatency.figures.NodeKey
import io.sparklatency.figures.PublishedPart
import io.sparklatency.figures.ReadingId
import io.sparklatency.figures.TaskAttempt
import io.sparklatency.figures.TaskReport
import io.sparklatency.figures.TaskSlice
import io.sparklatency.recording.LatencyRecorder
import io.sparklatency.time.ManualClock
import org.apache.spark.sql.latency.recording.PublishedMessage
import org.apache.spark.sql.latency.recording.ReportMessage
import org.scalatest.funsuite.AnyFunSuite

/** Figures of a running task on their way from an executor to the driver. */
class PublishedMessageSuite extends AnyFunSuite {
  private val summary = {
    val recorder = new LatencyRecorder(new ManualClock(1000))
    Seq(400L, 990L).foreach(ms => recorder.record(ms * 1000))
    recorder.summary()
  }

  private def part(owner: MarkOwner, endless: Boolean, oldest: Option[Long]) =
    PublishedPart(owner, ReadingId(7, 8, 9, 10), endless, summary, oldest, intake = 1)

  private def told(part: PublishedPart) =
    (part.owner, part.reading, part.endless, part.summary.toBytes.toSeq, part.oldestMs, part.intake)

  test("what an executor sends is what the driver reads") {
    val streaming = MarkOwner(NodeKey("orders", "sink"), Some("id"), Some("run"), Measure.Staleness)
    val batch = MarkOwner(NodeKey("__batch__", "sink"), None, None)
    for (sent <- Seq(part(streaming, endless = true, Some(400)), part(batch, endless = false, None)))
      PublishedMessage(sent) match {
        case PublishedMessage(read) => assert(told(read) === told(sent))
        case other => fail(s"not read: ${other.mkString(", ")}")
      }
  }

  test("what is none of ours is left alone") {
    val ours = PublishedMessage(part(MarkOwner(NodeKey("q", "n"), None, None), endless = false, None))
    for (other <- Seq[AnyRef]("text", Array[AnyRef]("orders", "sink"), ours.drop(1)))
      assert(PublishedMessage.unapply(other) === None)
  }

  test("a report comes to the driver as it was sent, and is not taken for a part") {
    def node(planning: Long, waited: Float) =
      TaskReport.Node(planning, 3, TaskSlice("exec-1", 1700000000000001L, 9.5f, 10.25f, 10, waited, 0.5f), 77)
    for (run <- Seq(Some("run"), None)) { // of a batch query none
      val report =
        TaskReport(run, TaskAttempt(4, 5, 6), hasBatches = false, Vector(node(1, 0), node(2, 5.5f)))
      val message = ReportMessage(report)
      assert(ReportMessage.unapply(message) === Some(report))
      assert(PublishedMessage.unapply(message) === None)
    }
    assert(ReportMessage.unapply(Array[AnyRef]("run")) === None)
  }
}
