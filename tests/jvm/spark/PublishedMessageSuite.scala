package org.apache.spark.sql.latency

import io.sparklatency.figures.MarkOwner
import io.sparklatency.figures.Measure
import io.sparklatency.figures.NodeKey
import io.sparklatency.figures.PublishedPart
import io.sparklatency.figures.ReadingId
import io.sparklatency.recording.LatencyRecorder
import io.sparklatency.time.ManualClock
import org.apache.spark.sql.latency.recording.PublishedMessage
import org.scalatest.funsuite.AnyFunSuite

/** Figures of a running task on their way from an executor to the driver. */
class PublishedMessageSuite extends AnyFunSuite {
  private val summary = {
    val recorder = new LatencyRecorder(new ManualClock(1000))
    Seq(400L, 990L).foreach(ms => recorder.record(ms * 1000))
    recorder.summary()
  }

  private def part(owner: MarkOwner, endless: Boolean, oldest: Option[Long]) =
    PublishedPart(owner, ReadingId(7, 8, 9), endless, summary, oldest)

  private def told(part: PublishedPart) =
    (part.owner, part.reading, part.endless, part.summary.toBytes.toSeq, part.oldestMs)

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
}
