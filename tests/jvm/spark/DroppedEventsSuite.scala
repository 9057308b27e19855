package org.apache.spark.sql.latency

import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper
import io.sparklatency.spark.Patience
import io.sparklatency.spark.Patient
import io.sparklatency.spark.StreamingTest
import io.sparklatency.spark.Ui
import io.sparklatency.spark.syntax._
import org.apache.spark.SparkConf
import org.apache.spark.metrics.MetricsSystem
import org.apache.spark.scheduler.LiveListenerBus
import org.apache.spark.scheduler.SparkListener
import org.apache.spark.scheduler.SparkListenerEvent
import org.apache.spark.sql.streaming.Trigger

/** Where Spark drops events, for we are too slow, whoever reads figures is told. In Spark's package for its counter. */
class DroppedEventsSuite extends StreamingTest with Ui with Patient {
  import DroppedEventsSuite._

  private def counted(bus: LiveListenerBus) = bus.metrics.metricRegistry.counter(Counter)

  /** The levels and words of notes on a query that are about this. */
  private def noted(query: String): Seq[(String, String)] = {
    listen()
    new ObjectMapper().readTree(fetched(s"/api/v1/latency/queries/$query")).get("queries").get(0).get("notes")
      .elements.asScala.filter(_.get("code").asText == "events-dropped")
      .map(note => note.get("level").asText -> note.get("text").asText).toList
  }

  test("Spark counts what it drops where the figures look") {
    val bus = new LiveListenerBus(new SparkConf(false).set(Capacity, "2"))
    val slow = new SlowListener
    bus.addToQueue(slow, "sparklatency")
    bus.start(spark.sparkContext, MetricsSystem.createMetricsSystem("test", new SparkConf(false)))
    try {
      bus.post(AnEvent)
      assert(slow.hasBegun.await(Patience.Seconds, TimeUnit.SECONDS))
      for (_ <- 1 to 5) bus.post(AnEvent) // for two there is room
      assert(counted(bus).getCount === 3)
    } finally {
      slow.goesOn.countDown()
      bus.stop()
    }
  }

  test("queries that run say how many, and those that have ended do not") {
    // It does nothing between two looks, so that what is said could be kept.
    val query = marked(stream).withE2ELatency("sink").writeStream.queryName("dropped").format("noop")
      .trigger(Trigger.ProcessingTime("1 hour")).start()
    try {
      eventually(assert(query.status.message === "Waiting for next trigger"))
      assert(noted("dropped") === Nil)
      val dropped = counted(spark.sparkContext.listenerBus)
      dropped.inc(3)
      try {
        assert(noted("dropped") === Seq(
          "warn" -> ("Since the application began Spark has dropped 3 events that figures are made of: batches may be " +
            s"missing, and counts too low. A higher $Capacity makes room for more.")
        ))
        query.stop()
        assert(noted("dropped") === Nil)
      } finally dropped.dec(3)
    } finally query.stop()
  }
}

object DroppedEventsSuite {
  private val Counter = "queue.sparklatency.numDroppedEvents"
  private val Capacity = "spark.scheduler.listenerbus.eventqueue.sparklatency.capacity"

  private case object AnEvent extends SparkListenerEvent

  /** Holds up its queue at the first event. */
  private final class SlowListener extends SparkListener {
    val hasBegun = new CountDownLatch(1)
    val goesOn = new CountDownLatch(1)
    override def onOtherEvent(event: SparkListenerEvent): Unit = {
      hasBegun.countDown()
      goesOn.await()
    }
  }
}
