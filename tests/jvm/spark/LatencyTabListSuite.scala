package io.sparklatency.spark

import scala.xml.Node

import io.sparklatency.spark.syntax._
import io.sparklatency.time.Clock
import io.sparklatency.time.WallClock
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.latency.ListenerBus

/** The first page of the tab "Latency": the queries, each with how it goes. */
class LatencyTabListSuite extends LatencyTabTest {

  private def statusCell(query: String): Option[Node] =
    cells(table(get("/latency/")._2, "latency-queries")).find(_("Query").text == query).map(_("Status"))

  /** So long that a batch hangs, however long the one before took on this machine. */
  private def anHourAfterTrigger: Clock = new Clock {
    override def readEveryRow: Boolean = true
    override def millis(): Long = clock.millis() + 3600000
    override def at(systemMillis: Long): Long = clock.at(systemMillis)
  }

  private def red(cell: Node): Seq[String] =
    (cell \ "_").filter(of => (of \@ "class").split(' ').contains("latency-note-wrong")).map(_.text)

  test("the first page lists queries, how old records are at their ends, and the slowest step of each") {
    withShop("shop") { (run, _) =>
      val queries = table(get("/latency/")._2, "latency-queries")
      assert(headings(queries) === Seq("Query", "Status", "p99", "Slowest step", "Watermark lag", "Run"))
      val row = rows(queries).find(_("Query") == "shop").get
      assert((row("Run"), row("Status"), row("p99")) === ((run.take(8), "Running", "400")))
      assert(row("Slowest step") === "sink (75 %)")
    }
  }

  test("the list shows how each query's p99 went over its last batches") {
    val input = stream
    val query = start(marked(input), "line")
    try {
      for (age <- Seq(100, 400)) {
        input.addData(ago(age))
        processAll(query)
      }
      val listed = cells(table(get("/latency/")._2, "latency-queries")).find(_("Query").text == "line").get
      val line = (listed("p99") \ "svg").filter(_ \@ "class" == "latency-sparkline")
      assert((line \ "title").text === "p99 of the last 2 batches, 100 ms to 400 ms")
    } finally query.stop()
  }

  test("of a query with several ends the line shows all their records, as the figure does") {
    val input = stream
    val read = marked(input)
    val query = read.writeStream.queryName("ends").foreachBatch { (batch: DataFrame, _: Long) =>
      batch.withE2ELatency("lake", "value").collect()
      clock.advance(2000)
      batch.withE2ELatency("jdbc", "value").collect()
      clock.advance(-2000)
    }.start()
    try {
      for (age <- Seq(100, 400)) {
        input.addData(ago(age))
        processAll(query)
      }
      val listed = cells(table(get("/latency/")._2, "latency-queries")).find(_("Query").text == "ends").get
      assert((listed("p99") \\ "title").text === "p99 of the last 2 batches, 2.1 s to 2.4 s")
    } finally query.stop()
  }

  test("the first page lists the newest run of a query, and those before it in a table of their own") {
    var first = ""
    withShop("restarted")((run, _) => first = run)
    withShop("restarted") { (second, _) =>
      val (_, page) = get("/latency/")
      def runs(id: String) = rows(table(page, id)).filter(_("Query") == "restarted")
      assert(runs("latency-queries").map(_("Run")) === Seq(second.take(8)))
      val earlier = runs("latency-earlier-runs").head
      assert((earlier("Run"), earlier("Status"), earlier("Batches")) === ((first, "Finished", "1")))
      val links = (table(page, "latency-earlier-runs") \\ "a").map(_ \@ "href")
      assert(get(links.find(_.contains(first)).get)._2.contains(s"finished, run $first"))
    }
  }

  test("a run whose batch hangs is red in the list and on its page") {
    val input = stream
    def shown = {
      ListenerBus.awaitEmpty(spark.sparkContext)
      val lines = raw"""<p class="latency-note( latency-note-wrong)?">(Batch \d+ has run for [^,:]*)""".r
        .findAllMatchIn(get("/latency/query/?id=hangs")._2).map(of =>
          (of.group(1) != null, of.group(2))
        ).toSeq
      (statusCell("hangs").map(red(_).mkString.split("[,:]").head), lines)
    }
    type Shown = (Option[String], Seq[(Boolean, String)])
    var (before, after): (Shown, Shown) = ((None, Nil), (None, Nil))
    val query = marked(input).writeStream.queryName("hangs").foreachBatch { (batch: DataFrame, id: Long) =>
      batch.collect()
      if (id == 1) {
        before = shown
        WallClock.install(anHourAfterTrigger)
        try after = shown
        finally WallClock.install(clock)
      }
    }.start()
    try {
      for (_ <- 1 to 2) {
        input.addData(ago(1))
        processAll(query)
      }
      assert(before === ((Some(""), Seq((false, "Batch 1 has run for 0 ms")))))
      assert(after === ((
        Some("RunningBatch 1 has run for 1 h"),
        Seq((true, "Batch 1 has run for 1 h"))
      )))
    } finally query.stop()
  }

  test("a run that was stopped has finished, one that an error ended has failed") {
    def cellOf(name: String) = {
      ListenerBus.awaitEmpty(spark.sparkContext)
      statusCell(name)
    }
    def statusOf(name: String) = cellOf(name).map(_.text)
    withShop("stopped")((_, _) => assert(statusOf("stopped") === Some("Running")))
    assert(statusOf("stopped") === Some("Finished"))
    assert(cellOf("stopped").map(red) === Some(Nil))

    for (failing <- Seq(0, 1)) {
      val (input, name) = (stream, s"broken-$failing")
      val query = marked(input).writeStream.queryName(name).foreachBatch { (batch: DataFrame, id: Long) =>
        batch.collect()
        if (id == failing) throw new IllegalStateException("on purpose")
      }.start()
      for (_ <- 0 until failing) {
        input.addData(ago(1))
        processAll(query)
      }
      input.addData(ago(1))
      failure(query)
      val shown = statusOf(name).get
      assert(shown.startsWith("FailedAn error ended this run: ") && shown.endsWith("Details"), shown)
      assert(cellOf(name).map(red(_).mkString) === Some(shown.stripSuffix("Details")), "it is red")
      val details = (cellOf(name).get \\ "a").find(_.text == "Details").map(_ \@ "href").get
      assert(get(details)._2.contains(s"IllegalStateException: on purpose"), "the whole of it is there")
      val page = get(s"/latency/query/?id=$name")._2
      assert(page.contains("failed, run "))
      val line = raw"""<p class="latency-note latency-note-wrong">Failed: .*? on purpose""".r
      assert(line.findFirstIn(page).nonEmpty, page)
      // Where there are figures the headline is of them.
      assert(page.split("An error ended this run: ").length - 1 === (if (failing == 0) 1 else 0), page)
      assert(get(s"/api/v1/latency/queries/$name")._2.contains("\"FAILED\""))
    }
  }
}
