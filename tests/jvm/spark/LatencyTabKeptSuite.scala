package org.apache.spark.sql.latency

import java.util.UUID

import io.sparklatency.spark.LatencyTabTest
import org.apache.spark.scheduler.SparkListenerEvent
import org.apache.spark.sql.latency.application.LatencyApplication
import org.apache.spark.sql.latency.history.StoredBatch
import org.apache.spark.sql.streaming.StreamingQueryListener.QueryTerminatedEvent

/**
 * A query's page of the tab is kept in parts between two batches. Here somebody has always looked before: what is kept must show all that
 * is another since. In Spark's own package for its store and its listener bus.
 */
class LatencyTabKeptSuite extends LatencyTabTest with ArchivedBatches {
  private val proxy = "X-Forwarded-Context" -> "/proxy/app-1"

  test("a page that was asked for through a proxy has other links for who asks for it without") {
    var run = ""
    withShop("both_ways")((of, _) => run = of)
    def asked(headers: (String, String)*) = {
      ListenerBus.awaitEmpty(spark.sparkContext)
      val page = get(s"/latency/query/?id=$run", headers: _*)._2
      page.drop(page.indexOf("latency-headline"))
    }
    val (through, direct, again) = (asked(proxy), asked(), asked(proxy))
    for (link <- Seq("latency/query/?id=", "StreamingQuery/statistics/?id="))
      assert(through.contains(s"/proxy/app-1/$link"), link)
    assert(direct === through.replace("/proxy/app-1", ""))
    assert(again === through)
  }

  test("links of a batch query's nodes and executions go with the way that its page is asked for, too") {
    withRun { (stored, page) =>
      def links(page: String) =
        Seq("latency-nodes", "latency-batches").flatMap(id => (table(page, id) \\ "a").map(_ \@ "href"))
      post(batch(stored.run, 0).copy(query = stored.run, queryId = null, runId = null, execution = 7L))
      val leads = Seq(s"/latency/query/?id=${stored.run}&node=sink#history", "/SQL/execution/?id=7")
      assert(links(page(Seq(proxy))) === leads.map("/proxy/app-1" + _))
      assert(links(page(Nil)) === leads)
    }
  }

  test("partitions show for the nodes that a link asks for, and for no others") {
    var run = ""
    withShop("partitions_kept")((of, _) => run = of)
    ListenerBus.awaitEmpty(spark.sparkContext)
    val shown = Seq("", "&node=sink", "").map(node => get(s"/latency/query/?id=$run$node")._2)
    assert(shown.map(_.contains("latency-partitions-")) === Seq(false, true, false))
  }

  test("a chart has its own node's ages, whichever node somebody has looked at before") {
    withRun { (stored, _) =>
      def shown(nodes: String*) = {
        val page = get(s"/latency/query/?id=${stored.run}${nodes.map("&node=" + _).mkString}")._2
        "· p50 (\\d+ ms)".r.findAllMatchIn(page).map(_.group(1)).toSeq
      }
      for (number <- 0L to 1L) {
        val (of, old) =
          (batch(stored.run, number, ids = Seq("source", "sink")), batch(stored.run, number, agedMs = 70))
        post(of.copy(nodes = Array(of.nodes.head, of.nodes.last.copy(measures = old.nodes.head.measures))))
      }
      assert(shown("source") === Seq("5 ms", "5 ms"))
      assert(shown("sink") === Seq("70 ms", "70 ms"))
      assert(shown("source", "sink") === Seq("5 ms", "5 ms", "70 ms", "70 ms"))
    }
  }

  test("a point that batches share is of those that are stored, whatever somebody has looked at before") {
    def history(kept: Seq[Long], before: Seq[Long] = Nil): String = {
      var shown = ""
      withRun { (stored, page) =>
        def of(number: Long) = batch(stored.run, number, agedMs = if (number % 100 == 0) 9000 else number)
        def charts = {
          val now = page(Nil)
          now.slice(now.indexOf("id=\"history\""), now.indexOf("<h4>Watermarks"))
        }
        post(of(0))
        before.foreach(number => stored.write(of(number)))
        if (before.nonEmpty) charts
        kept.diff(before).foreach(number => stored.write(of(number)))
        (0L +: before).diff(kept).foreach(stored.forget)
        shown = charts
      }
      shown
    }
    val all = 1L to 300L
    val fresh = history(all)
    assert("max 9 s".r.findAllIn(fresh).size === 3)
    assert("<path d=".r.findAllIn(fresh).size === 151)
    assert(history(all, before = 0L to 299L) === fresh)
  }

  test("a page has each batch and each end that was stored since somebody has looked") {
    withRun { (stored, page) =>
      def of(number: Long) = batch(stored.run, number, records = 3)
        .copy(durationsMs = java.util.Map.of("addBatch", 8L), watermarks = watermarks(number + 1))
      def shown = {
        val now = page(Nil)
        val Seq(node) = rows(table(now, "latency-nodes")): @unchecked
        val batches = rows(table(now, "latency-batches")).map(_("Batch")).mkString(" ")
        val history = now.slice(now.indexOf("id=\"history\""), now.indexOf("<h4>Watermarks"))
        val watermark = now.slice(now.indexOf("<h4>Watermarks"), now.indexOf("<h4>Last batches"))
        (node("Records"), batches, history, watermark)
      }
      post(of(0))
      val first = shown
      assert((first._1, first._2) === (("3", "0")))

      // The archive's thread writes a batch, and then its run. Somebody may look between the two.
      val second = of(1)
      stored.write(second)
      val between = shown
      assert((between._1, between._2) === (("3", "1 0")))
      assert(between._3 !== first._3)
      assert(between._4 !== first._4)
      post(second)
      assert(shown === between.copy(_1 = "6"))

      stored.write(of(2))
      stored.forget(0)
      val third = shown
      assert(third._2 === "2 1")
      assert(third._3 !== between._3)
      stored.forget(1)
      val last = shown
      assert(last._2 === "2")
      assert(last._3 !== third._3)

      val run = UUID.fromString(stored.run)
      assert(!page(Nil).contains("finished, run "))
      post(new QueryTerminatedEvent(run, run, None, None))
      assert(page(Nil).contains("finished, run "))
      for (error <- Seq("snapped", "frayed")) {
        assert(!page(Nil).contains(error))
        post(end(run, error))
        assert(page(Nil).contains(error))
        assert(page(Nil).contains("failed, run "))
      }
    }
  }

  private def watermarks(ms: Long): Array[StoredWatermark] =
    Array(StoredWatermark("kafka[orders]", "at", 1000, ms, holdsBack = true, kind = null))

  private def withRun(check: (Stored, Seq[(String, String)] => String) => Unit): Unit = {
    val run = UUID.randomUUID.toString
    LatencyApplication.running(spark.sparkContext)
    check(new Stored(run), headers => get(s"/latency/query/?id=$run", headers: _*)._2)
  }

  private def post(event: SparkListenerEvent): Unit = {
    spark.sparkContext.listenerBus.post(event)
    ListenerBus.awaitEmpty(spark.sparkContext)
  }

  /** What the application stores of a run. */
  private final class Stored(val run: String) {
    private val store = spark.sparkContext.statusStore.store

    def write(batch: SparkListenerLatencyBatch): Unit =
      store.write(new StoredBatch(StoredBatch.key(run, batch.batch), batch))

    def forget(number: Long): Unit = store.delete(classOf[StoredBatch], StoredBatch.key(run, number))
  }
}
