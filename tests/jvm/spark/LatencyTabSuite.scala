package io.sparklatency.spark

import java.net.URLEncoder
import java.nio.charset.StandardCharsets.UTF_8
import java.sql.Timestamp

import com.fasterxml.jackson.databind.ObjectMapper
import io.sparklatency.spark.Lines.MemoryStream
import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.ListenerBus

/** The tab "Latency" of a live UI, as a browser would ask for it. */
class LatencyTabSuite extends LatencyTabTest {
  test("the partitions of a node show where they are asked for, on the page and over REST") {
    withShop("partitioned") { (run, page) =>
      assert(!page.contains("latency-partitions"))
      val asked = get(s"/latency/query/?id=$run&node=sink")._2
      val shown = rows(table(asked, "latency-partitions-0-0"))
      assert(shown.map(row => (row("Executor"), row("Records"))).distinct === Seq(("driver", "1")))
      assert(asked.contains("Partition 0 was slowest of 1: "))
      val app = spark.sparkContext.applicationId
      val of = s"/api/v1/applications/$app/latency/queries/partitioned/operators"
      val (status, body) = get(s"$of/sink/partitions")
      val json = new ObjectMapper().readTree(body)
      assert((status, json.get("node").asText, json.get("of").asText) === ((200, "sink", "batch")))
      val partitions = json.get("stages").get(0)
      assert((partitions.get("count").asInt, partitions.get("of").get(0).get("records").asInt) === ((1, 1)))
      assert(get(s"$of/none/partitions") === ((404, "the query has no node 'none'")))
    }
  }

  test("the partitions of a node whose id no path takes are asked for by a parameter") {
    val id = "a/b;c\\d 50%"
    withShop("odd_partitions", id) { (run, _) =>
      val of = s"/api/v1/latency/queries/$run/operators/partitions"
      val (status, body) = get(s"$of?node=${URLEncoder.encode(id, UTF_8)}")
      assert(status === 200, body)
      assert(new ObjectMapper().readTree(body).get("node").asText === id)
      assert(get(s"$of?node=none") === ((404, "the query has no node 'none'")))
      assert(get(of) === ((400, "the parameter node is missing: the id of a node")))
    }
  }

  test("a query's page begins with the answer, and has each node's figures") {
    withShop("answer") { (_, page) =>
      assert(
        page.contains(
          """<p class="latency-headline">Slowest step: <strong>sink</strong>, 300 ms of 400 ms (75 %). Make that faster, or give it more cores.</p>"""
        ),
        page
      )
      val nodes = rows(table(page, "latency-nodes"))
      assert(nodes.map(_("Node")) === Seq("source", "sink"))
      assert(nodes.map(_("Own time")) === Seq("100.0", "300.0"))
      assert(nodes.map(_("Share")) === Seq("25 %", "75 %"))
      assert(nodes.map(_("Max")) === Seq("100", "400"))
      assert(nodes.map(_("Commit p99")) === Seq("–", "400"))
      assert(!nodes.head.contains("Dropped late"), "what no node has anything of has no column")
    }
  }

  test("no character of a page needs more than a byte in memory, also where something is unknown") {
    withShop("bytes") { (_, page) =>
      assert(page.contains("&#8211;"))
      assert(page.filter(_ > '\u00ff') === "")
    }
  }

  test("a query's page leads to Spark's own page of the rates and durations of that run") {
    withShop("statistics") { (run, page) =>
      val links =
        "href=\"([^\"]*/StreamingQuery/statistics/[^\"]*)\"".r.findAllMatchIn(page).map(_.group(1)).toSeq
      assert(links === Seq(s"/StreamingQuery/statistics/?id=$run"))
      val (status, theirs) = get(links.head)
      assert(status === 200)
      assert(theirs.contains(run))
    }
  }

  test("each percentile stands in its column") {
    val input = stream
    val query = start(marked(input), "columns")
    try {
      input.addData(ago(1L to 100L: _*))
      processAll(query)
      node("source", "columns")
      val row = rows(table(get("/latency/query/?id=columns")._2, "latency-nodes")).head
      assert(Seq("Records", "Min", "Avg", "p50", "p90", "p99", "Max").map(row) ===
        Seq("100", "1", "50.5", "50", "90", "99", "100"))
    } finally query.stop()
  }

  test("the three parts of the last batch's latency are one bar") {
    withShop("parts") { (_, page) =>
      val text = "source queuing 100 ms, processing 300 ms, commit 0 ms: 400 ms on average in the last batch"
      assert(page.contains(s"""aria-label="$text""""), page)
    }
  }

  test("neither a batch without data nor a silent window takes the bar or the age at the commit away") {
    val input = stream
    val query = startWindows(input, "no_data")
    try {
      input.addData(ago(100, 300))
      processAll(query)
      node("sink", "no_data")
      clock.advance(3600000)
      val page = get(s"/latency/query/?id=${query.runId}")._2
      assert(page.contains("each node shows its last batch"), page)
      val text = "source queuing 200 ms, processing -100 ms, commit 0 ms: 100 ms on average in the last batch"
      assert(page.contains(s"""aria-label="$text""""), page)
      assert(rows(table(page, "latency-nodes")).map(_("Commit p99")) === Seq("–", "100"))
    } finally query.stop()
  }

  test("a page tells how old the oldest record is that waits for its commit, as long as one does") {
    val input = stream
    var during = ""
    def page = get("/latency/query/?id=waiting")._2
    val query = marked(input).writeStream.queryName("waiting").foreachBatch { (batch: DataFrame, id: Long) =>
      batch.collect()
      clock.advance(60000)
      if (id == 1) {
        ListenerBus.awaitEmpty(spark.sparkContext)
        during = page
      }
    }.start()
    try {
      Seq(ago(1), ago(100, 60300)).foreach { batch =>
        input.addData(batch)
        processAll(query)
      }
      assert(during.contains("The oldest record that waits for its commit is at least 3 min old."), during)
      assert(!page.contains("waits for its commit"))
    } finally query.stop()
  }

  test("a query without figures has a page that says so, and draws none") {
    withShop("beside") { (_, _) =>
      val input = stream
      val query = start(input.toDF(), "plain")
      try {
        for (_ <- 1 to 2) {
          input.addData(ago(1))
          processAll(query)
        }
        val (status, page) = get(s"/latency/query/?id=${query.runId}")
        assert(status === 200)
        assert(page.contains("No node of this query has figures."), page)
        for (absent <- Seq("viewBox=\"0 0 -", "latency-nodes", "No batch has been committed"))
          assert(!page.contains(absent), absent)
      } finally query.stop()
    }
  }

  test("charts go on with each batch, though somebody has looked at them before") {
    val input = stream
    val query = start(marked(input), "goes_on")
    def charts: Option[String] = {
      input.addData(ago(1))
      processAll(query)
      node("source", "goes_on")
      val asked = Seq.fill(2)(get(s"/latency/query/?id=${query.runId}")._2)
      val Seq(drawn) =
        asked.map("what the last (.*?) spent".r.findFirstMatchIn(_).map(_.group(1))).distinct: @unchecked
      drawn
    }
    try assert(Seq.fill(2)(charts) === Seq(Some("1 batch"), Some("2 batches")))
    finally query.stop()
  }

  test("for a node that there is not the charts are those of a page without one") {
    withShop("other_node") { (run, page) =>
      def drawn(page: String) = "<svg".r.findAllIn(page).size
      assert(drawn(get(s"/latency/query/?id=$run&node=nope")._2) === drawn(page))
      assert(drawn(page) > 1)
    }
  }

  test("watermarks and batches have their tables") {
    withShop("tables") { (_, page) =>
      val watermark = rows(table(page, "latency-watermarks")).head
      assert((
        watermark("Column"),
        watermark("Delay"),
        watermark("Lag"),
        watermark("Holds back")
      ) === (("value", "10,000", "10,400", "yes")))
      val batch = rows(table(page, "latency-batches")).head
      assert((
        batch("Batch"),
        batch("Rows"),
        batch("p99"),
        batch("Commit p99")
      ) === (("0", "1", "400", "400")))
    }
  }

  test("each of the last batches links to Spark's page of its own execution") {
    val input = stream
    val query = start(marked(input), "executions")
    try {
      for (_ <- 1 to 2) {
        input.addData(ago(1))
        processAll(query)
      }
      val page = get(s"/latency/query/?id=${query.runId}")._2
      val rest = s"/api/v1/applications/${spark.sparkContext.applicationId}/sql"
      val batches = cells(table(page, "latency-batches"))
      assert(batches.map(_("Batch").text) === Seq("1", "0"))
      for (row <- batches) {
        val (batch, link) = (row("Batch").text, (row("Batch") \ "a").head \@ "href")
        val (status, execution) = get(link)
        assert(status === 200)
        assert(execution.contains(s"MicroBatchWrite[epoch: $batch,"), "its plan")
        // Its jobs are those of an execution below, which Spark's page names since 4.1.
        val below = """href="(\?id=\d+)"""".r.findAllMatchIn(execution).map(_.group(1)).toSeq
        val all = execution +: below.map(id => fetched(link.takeWhile(_ != '?') + id))
        val jobs = all.flatMap("""href="([^"]*/jobs/job/\?id=\d+)"""".r.findFirstMatchIn(_)).map(_.group(1))
        assert(jobs.nonEmpty || spark.version < "4.1", "its jobs")
        assert(jobs.forall(get(_)._1 === 200))
        val json = new ObjectMapper().readTree(get(s"$rest/${link.split('=').last}")._2)
        val lines = json.get("description").asText.split("\n|<br/>").toSeq
        assert(lines.takeRight(2) === Seq(s"runId = ${query.runId}", s"batch = $batch"))
      }
    } finally query.stop()
  }

  test("a node whose last figures are from before the window shows them, beside one that has newer ones") {
    val input = stream
    val worked = marked(input).withColumn("worked", slow(300)(unix_millis(col("value"))))
    val old = worked.filter(s"worked < ${Start + 60000}").withE2ELatency("sink", "value")
    val query = start(old, "not_all_quiet")
    try {
      input.addData(ago(100))
      processAll(query)
      clock.advance(180000)
      input.addData(new Timestamp(clock.millis() - 150))
      processAll(query)
      clock.advance(20000)

      val page = get(s"/latency/query/?id=${query.runId}")._2
      val note = "No record came to sink within the window: sink shows its last batch, 3.3 min ago."
      assert(page.contains(s"""<p class="latency-note latency-note-info">$note</p>"""), page)
      assert(page.contains("Slowest step: <strong>sink</strong>, 250 ms of 400 ms (63 %)"), page)
      val nodes = rows(table(page, "latency-nodes"))
      assert(nodes.map(row => Seq("Node", "Own time", "Share", "Avg", "p99").map(row)) ===
        Seq(Seq("source", "150.0", "38 %", "150.0", "150"), Seq("sink", "250.0", "63 %", "400.0", "400")))
      val drawn = "class=\"(latency-node[^\"]*)\"><title>(.*?)</title>".r.findAllMatchIn(page)
        .map(of => (of.group(1), of.group(2).takeWhile(_ != ';'))).toSeq
      assert(drawn === Seq(
        ("latency-node latency-critical", "source: avg 150 ms · p99 150 ms"),
        ("latency-node latency-critical", "sink: avg 400 ms · p99 400 ms")
      ))
      val listed = rows(table(get("/latency/")._2, "latency-queries")).find(_("Query") == "not_all_quiet").get
      assert((listed("p99"), listed("Slowest step")) === (("400", "sink (63 %)")))
    } finally query.stop()
  }

  test(
    "a lag on the first page grows while nothing arrives, that of each watermark is of the last commit"
  ) {
    val (orders, clicks) = (stream, stream)
    def side(input: MemoryStream[Timestamp], name: String, delay: String) =
      input.toDF().toDF(name).withWatermark(name, delay)
    val joined = side(orders, "ordered", "1 second").withE2ELatency("orders")
      .join(side(clicks, "clicked", "2 seconds"), expr("ordered = clicked"))
    val query = start(joined, "two_lags")
    try {
      orders.addData(ago(9000))
      clicks.addData(ago(100))
      processAll(query)
      clock.advance(500)
      orders.addData(ago(8000))
      processAll(query)
      def listed = rows(table(get("/latency/")._2, "latency-queries")).find(_("Query") == "two_lags").get
      assert(listed("Watermark lag") === "9,500")
      clock.advance(60000)
      assert(listed("Watermark lag") === "69,500")
      val shown = rows(table(get(s"/latency/query/?id=${query.runId}")._2, "latency-watermarks"))
      assert(shown.map(row => (row("Column"), row("Delay"), row("Lag"))) ===
        Seq(("ordered", "1,000", "9,500"), ("clicked", "2,000", "2,600")))
    } finally query.stop()
  }

  test("a chart is drawn of the slowest step, or of the node that a link asks for, whatever its id") {
    val id = """<b>"it's"</b> & 1"""
    withShop("charts", id) { (run, page) =>
      def charts(page: String) = "(?s)<h5>(.*?)</h5>".r.findAllMatchIn(page).map(_.group(1)).toSeq
      assert(charts(page) === Seq("<span>sink</span>"))
      assert(!page.contains("<b>"), "an id is text")
      val link = (table(page, "latency-nodes") \\ "a").head \@ "href"
      assert(link.startsWith(s"/latency/query/?id=$run&node="))
      assert(charts(get(link.takeWhile(_ != '#'))._2).map(_.contains("it's")) === Seq(true))
    }
  }

  test(
    "a query can be asked for by its name; one that is not known is said not to be, beside those that are"
  ) {
    withShop("by_name") { (_, _) =>
      assert(get("/latency/query/?id=by_name")._2.contains("Latency of by_name"))
      val (status, page) = get("/latency/query/?id=nobody")
      assert(status === 200)
      assert(page.contains("There are no figures of a query with this name or id: there is no query of this"))
      assert(page.contains("by_name</a>"))
      assert(get("/latency/query/")._1 === 200)
    }
  }

  test("a query that has stopped keeps its page") {
    var stopped = ""
    withShop("stopped")((run, _) => stopped = run)
    ListenerBus.awaitEmpty(spark.sparkContext)
    assert(get(s"/latency/query/?id=$stopped")._2.contains(s"finished, run $stopped"))
  }
}
