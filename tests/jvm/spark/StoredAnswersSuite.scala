package org.apache.spark.sql.latency

import java.util.UUID

import io.sparklatency.figures.Admission
import io.sparklatency.figures.Filling
import io.sparklatency.recording.LatencyRecorder
import io.sparklatency.recording.LatencySummary
import io.sparklatency.time.ManualClock
import org.apache.spark.SecurityManager
import org.apache.spark.SparkConf
import org.apache.spark.scheduler.SparkListenerEvent
import org.apache.spark.sql.latency.application.LatencyHistory
import org.apache.spark.sql.latency.history.BatchArchive
import org.apache.spark.sql.latency.history.StoredRun
import org.apache.spark.status.AppStatusStore
import org.apache.spark.ui.SparkUI
import org.apache.spark.util.JsonProtocol
import org.apache.spark.util.kvstore.InMemoryStore
import org.scalatest.funsuite.AnyFunSuite

/** What a History Server says of a run rests on all of its batches, not on those that are kept. */
class StoredAnswersSuite extends AnyFunSuite with ArchivedBatches {
  private val parts = StoredParts("sink", 1, 0, 2, 3, 4, 5, 6, 7)
  private val admission = StoredAdmission(1, 2, 3, 4, 5, null, null, fromFirst = false)

  private def explained(number: Long) = batch("run", number).copy(parts = parts, admission = admission)

  private def stored(kept: Int, used: Boolean = false)(events: SparkListenerEvent*): InMemoryStore = {
    val store = new InMemoryStore
    val archive = new BatchArchive(store, kept, used = used)
    events.foreach(archive.onOtherEvent)
    store
  }

  private def explaining(kept: Int)(events: SparkListenerEvent*): Option[(Long, Boolean)] =
    shown(stored(kept)(events: _*)).query("run").flatMap(_.explained)
      .map(batch => batch.batch -> batch.parts.contains(parts.parts))

  /** The batch of an event that has been through an event log. */
  private def read(event: SparkListenerLatencyBatch) =
    JsonProtocol.sparkEventFromJson(JsonProtocol.sparkEventToJsonString(event))
      .asInstanceOf[SparkListenerLatencyBatch].record

  private def silent(numbers: Range): Seq[SparkListenerEvent] =
    numbers.map(number => batch("run", number.toLong))

  test(
    "a window gives out records once in many batches: the last batch that did explains them, also when it has gone"
  ) {
    for (kept <- Seq(1000, 5)) {
      assert(explaining(kept)(explained(0)) === Some(0L -> true))
      assert(explaining(kept)(explained(0) +: silent(1 to 30): _*) === Some(0L -> true))
      assert(explaining(kept)((explained(0) +: silent(1 to 30)) :+ explained(31): _*) === Some(31L -> true))
      assert(explaining(kept)(silent(0 to 30): _*) === None)
    }
  }

  test("an event tells what filled the batch before, and nothing of a kind that nobody knows yet") {
    val record = batch("run", 1).record
    for (kind <- Filling.kinds) {
      val before = Some(Filling(20487.5, kind, Seq("source", "sink"), 19000))
      assert(read(SparkListenerLatencyBatch(record.copy(before = before))).before === before)
    }
    assert(read(SparkListenerLatencyBatch(record)).before === None)
    assert(read(batch("run", 1).copy(before = StoredFilling(2, "newer", Array.empty, 1))).before === None)
  }

  test("an event tells that nothing goes by the watermark; one of old says nothing of it") {
    val record = batch("run", 1).record
    for (uses <- Seq(true, false))
      assert(read(SparkListenerLatencyBatch(record.copy(usesWatermark = uses))).usesWatermark === uses)
    assert(SparkListenerLatencyBatch(record).noWatermark === null)
  }

  test("an event tells whether a limit has left records behind since the first batch") {
    for (fromFirst <- Seq(false, true)) {
      val admission =
        Some(Admission(1100, 5025, 9020, 9040, 4000, Some("maxFilesPerTrigger"), None, fromFirst))
      val event = SparkListenerLatencyBatch(batch("run", 1).record.copy(admission = admission))
      assert(read(event).admission === admission)
    }
  }

  test("how far records came out of order is that of all since the query started") {
    def late(number: Long, ms: Long) = {
      val recorder = new LatencyRecorder(new ManualClock(Committed))
      recorder.record((Committed - ms) * 1000)
      batch("run", number).copy(outOfOrder = recorder.summary().toBytes)
    }
    def outOfOrder(events: SparkListenerEvent*): LatencySummary =
      shown(stored(2)(events: _*)).query("run").get.outOfOrder
    val all = outOfOrder((0 to 9).map(number => late(number.toLong, 1000L * number)): _*)
    assert((all.count, all.min, all.max) === ((10, Some(0L), Some(9000L))))
    assert(outOfOrder(batch("run", 0)).isEmpty)
  }

  test("whoever looks while a batch is stored finds the run and its batches of one moment") {
    var looks = Seq.empty[(Long, Option[Long], Seq[Long])]
    val store = new InMemoryStore {
      override def write(value: Object): Unit = {
        // Its newest batch is there by now, and the run is as it was before.
        if (value.isInstanceOf[StoredRun]) shown(this).query("run").foreach { run =>
          looks :+= ((run.batches, run.lastBatch.map(_.batch), shown(this).history(run).map(_.batch)))
        }
        super.write(value)
      }
    }
    val archive = new BatchArchive(store, kept = 2)
    (0L to 3L).foreach(number => archive.onOtherEvent(batch("run", number)))
    assert(looks === Seq((1, Some(0), Seq(0)), (2, Some(1), Seq(0, 1)), (3, Some(2), Seq(1, 2))))
  }

  test("an application shows the tab that uses us, also where no query of it has figures") {
    def hasTab(used: Boolean): Boolean = {
      val run = UUID.randomUUID
      val store = stored(100, used)(QueryEvents.started(run, run, "failing"), end(run))
      val conf = new SparkConf(false)
      val ui =
        SparkUI.create(None, new AppStatusStore(store), conf, new SecurityManager(conf), "app", "", 0)
      new LatencyHistory().setupUI(ui)
      ui.getTabs.exists(_.prefix == "latency")
    }
    assert(hasTab(used = true) && !hasTab(used = false))
  }
}
