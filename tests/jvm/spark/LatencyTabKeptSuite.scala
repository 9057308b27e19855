package org.apache.spark.sql.latency

import java.util.UUID

import io.sparklatency.spark.LatencyTabTest
import org.apache.spark.scheduler.SparkListenerEvent
import org.apache.spark.sql.latency.application.LatencyApplication
import org.apache.spark.sql.latency.history.BatchArchive
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
    withRun() { (stored, page) =>
      def links(page: String) =
        Seq("latency-nodes", "latency-batches").flatMap(id => (table(page, id) \\ "a").map(_ \@ "href"))
      stored.tell(batch(stored.run, 0).copy(query = stored.run, queryId = null, runId = null, execution = 7L))
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
    withRun() { (stored, _) =>
      def shown(nodes: String*) = {
        val page = get(s"/latency/query/?id=${stored.run}${nodes.map("&node=" + _).mkString}")._2
        "· p50 (\\d+ ms)".r.findAllMatchIn(page).map(_.group(1)).toSeq
      }
      for (number <- 0L to 1L) {
        val (of, old) =
          (batch(stored.run, number, ids = Seq("source", "sink")), batch(stored.run, number, agedMs = 70))
        stored.tell(of.copy(nodes =
          Array(of.nodes.head, of.nodes.last.copy(measures = old.nodes.head.measures))
        ))
      }
      assert(shown("source") === Seq("5 ms", "5 ms"))
      assert(shown("sink") === Seq("70 ms", "70 ms"))
      assert(shown("source", "sink") === Seq("5 ms", "5 ms", "70 ms", "70 ms"))
    }
  }

  test("a point that batches share is of those that are stored, whatever somebody has looked at before") {
    def shown(looksBefore: Boolean): String = {
      var charts = ""
      withRun(kept = 300) { (stored, page) =>
        def tell(number: Long) =
          stored.tell(batch(stored.run, number, agedMs = if (number % 100 == 0) 9000 else number))
        (0L to 299L).foreach(tell)
        if (looksBefore) page(Nil)
        tell(300)
        charts = history(page(Nil))
      }
      charts
    }
    val fresh = shown(looksBefore = false)
    assert("max 9 s".r.findAllIn(fresh).size === 3)
    assert("<path d=".r.findAllIn(fresh).size === 151)
    assert(shown(looksBefore = true) === fresh)
  }

  test("a page has each batch and each end that was stored since somebody has looked") {
    withRun(kept = 2) { (stored, page) =>
      def shown = {
        val now = page(Nil)
        val Seq(node) = rows(table(now, "latency-nodes")): @unchecked
        val batches = rows(table(now, "latency-batches")).map(_("Batch")).mkString(" ")
        val watermark = now.slice(now.indexOf("<h4>Watermarks"), now.indexOf("<h4>Last batches"))
        (node("Records"), batches, history(now), watermark)
      }
      val looks = (0L to 2L).map { number =>
        stored.tell(
          batch(stored.run, number, records = 3)
            .copy(durationsMs = java.util.Map.of("addBatch", 8L), watermarks = watermarks(number + 1))
        )
        shown
      }
      assert(looks.map(look => look._1 -> look._2) === Seq("3" -> "0", "6" -> "1 0", "9" -> "2 1"))
      assert(looks.map(_._3).distinct === looks.map(_._3), "each has a history of its own")
      assert(looks.map(_._4).distinct === looks.map(_._4), "and a watermark")

      val run = UUID.fromString(stored.run)
      assert(!page(Nil).contains("finished, run "))
      stored.tell(new QueryTerminatedEvent(run, run, None, None))
      assert(page(Nil).contains("finished, run "))
      for (error <- Seq("snapped", "frayed")) {
        assert(!page(Nil).contains(error))
        stored.tell(end(run, error))
        assert(page(Nil).contains(error))
        assert(page(Nil).contains("failed, run "))
      }
    }
  }

  private def watermarks(ms: Long): Array[StoredWatermark] =
    Array(StoredWatermark("kafka[orders]", "at", 1000, ms, holdsBack = true, kind = null))

  private def history(page: String): String =
    page.slice(page.indexOf("id=\"history\""), page.indexOf("<h4>Watermarks"))

  /** @param kept how many batches of it */
  private def withRun(kept: Int = 1000)(check: (Stored, Seq[(String, String)] => String) => Unit): Unit = {
    val run = UUID.randomUUID.toString
    LatencyApplication.running(spark.sparkContext)
    check(new Stored(run, kept), headers => get(s"/latency/query/?id=$run", headers: _*)._2)
  }

  /** What is stored of a run, beside what the application's own archive has. */
  private final class Stored(val run: String, kept: Int) {
    private val archive = new BatchArchive(spark.sparkContext.statusStore.store, kept)

    def tell(event: SparkListenerEvent): Unit = archive.onOtherEvent(event)
  }
}
