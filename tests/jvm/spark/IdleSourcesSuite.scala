package io.sparklatency.spark

import java.net.URI
import java.nio.file.Files
import java.sql.Timestamp

import scala.io.Source

import io.sparklatency.spark.Lines.MemoryStream
import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.Row
import org.apache.spark.sql.functions._

/** Sources that fall silent under an idle timeout of a minute. Delays and windows have 10 s. */
class IdleSourcesSuite extends SystemTimeTest {
  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark.conf.set("spark.sparklatency.watermark.idle.timeout", "1m")
  }

  override protected def afterAll(): Unit = {
    spark.conf.unset("spark.sparklatency.watermark.idle.timeout")
    super.afterAll()
  }

  private def ordinary(df: DataFrame): DataFrame = df.withWatermark("value", "10 seconds")

  private def both(a: MemoryStream[Timestamp], b: MemoryStream[Timestamp]): DataFrame =
    windows(ordinary(a.toDF()).union(ordinary(b.toDF())))

  /** What was found silent has its consequences at the next trigger. */
  private def waits(it: Running, second: Double): Unit = {
    it.comesTo(second)
    processAll(it.query)
  }

  test("a source that falls silent holds the other back for the timeout, and no longer") {
    val (a, b) = (stream, stream)
    running(both(a, b)) { it =>
      b.addData(at(1))
      it.reads(a, 1, 25)
      waits(it, 59.999)
      assert(it.rows === Nil)
      waits(it, 60)
      assert(it.rows === Seq(Seq(10.0, 2)))
      it.reads(a, 45) // it goes along with the other from now on
      processAll(it.query)
      assert(it.rows === Seq(Seq(10.0, 2), Seq(30.0, 1)))
    }
  }

  test("without the timeout it holds it back for ever") {
    withSettings("spark.sparklatency.watermark.idle.timeout" -> "0") {
      val (a, b) = (stream, stream)
      running(both(a, b)) { it =>
        b.addData(at(1))
        it.reads(a, 1, 25)
        waits(it, 100000)
        assert(it.rows === Nil)
      }
    }
    spark.conf.set("spark.sparklatency.watermark.idle.timeout", "1m")
  }

  test("a source that never had a record, and takes part when it has one") {
    val (a, b) = (stream, stream)
    running(both(a, b)) { it =>
      it.reads(a, 1, 25)
      waits(it, 60)
      assert(it.rows === Seq(Seq(10.0, 1)))
      b.addData(at(32))
      it.reads(a, 95)
      assert(it.watermark === 22.0)
      assert(it.rows === Seq(Seq(10.0, 1)))
      waits(it, 119.999)
      assert(it.watermark === 22.0)
      waits(it, 120)
      assert(it.watermark === 85.0)
    }
  }

  test("what a source brings that was idle may be late, and takes the watermark nowhere back") {
    val (a, b) = (stream, stream)
    running(both(a, b)) { it =>
      it.reads(a, 1, 25)
      waits(it, 60)
      it.reads(b, 2)
      it.reads(a, 26)
      assert(it.watermark === 15.0)
      assert(it.rows === Seq(Seq(10.0, 1)))
    }
  }

  test("when all are idle nobody is waited for, and the greatest watermark counts") {
    val (a, b) = (stream, stream)
    running(both(a, b)) { it =>
      b.addData(at(1, 45))
      it.reads(a, 1, 25)
      assert(it.rows === Seq(Seq(10.0, 2)))
      waits(it, 60)
      assert(it.watermark === 35.0)
      assert(it.rows === Seq(Seq(10.0, 2), Seq(30.0, 1)))
    }
  }

  test("a record that comes while the query is busy keeps its source from being idle") {
    val (a, b) = (stream, stream)
    val df = ordinary(a.toDF()).union(ordinary(b.toDF())).groupBy(window(col("value"), "10 seconds")).count()
    val rows = new java.util.concurrent.ConcurrentLinkedQueue[Row]
    val query = df.writeStream.foreachBatch { (batch: DataFrame, id: Long) =>
      if (id == 1) { // takes long, and a record comes meanwhile
        clock.advance(100000)
        b.addData(at(2))
      }
      batch.collect().foreach(rows.add)
    }.start()
    try {
      b.addData(at(1))
      processAll(query)
      a.addData(at(1, 25))
      (1 to 2).foreach(_ => processAll(query))
      assert(rows.size === 0)
      clock.advance(60000)
      (1 to 2).foreach(_ => processAll(query))
      assert(rows.size === 1)
    } finally query.stop()
  }

  test("while a source has more than is admitted it is not idle") {
    val a = stream
    val folder = Files.createTempDirectory("limited")
    for (second <- Seq(1, 2, 3)) Files.writeString(folder.resolve(s"$second.json"), s"""{"s": $second}""")
    val limited = spark.readStream.schema("s LONG").option("maxFilesPerTrigger", 1).json(folder.toString)
      .where("s = 3").selectExpr(s"timestamp_millis($Start + s * 1000) as value")
    val df = ordinary(a.toDF()).union(ordinary(limited)).groupBy(window(col("value"), "10 seconds")).count()
    val rows = new java.util.concurrent.ConcurrentLinkedQueue[Row]
    a.addData(at(1, 25))
    val query = df.writeStream.foreachBatch { (batch: DataFrame, id: Long) =>
      if (id < 2) clock.advance(100000)
      batch.collect().foreach(rows.add)
    }.start()
    try {
      (1 to 2).foreach(_ => processAll(query))
      assert(rows.size === 0)
      clock.advance(60000)
      (1 to 2).foreach(_ => processAll(query))
      assert(rows.size === 1)
    } finally query.stop()
  }

  test("a source whose records are all filtered out below its watermark is silent") {
    val (a, b) = (stream, stream)
    val df = windows(ordinary(a.toDF()).union(ordinary(b.toDF().where(expr(s"unix_millis(value) < $Start")))))
    running(df) { it =>
      b.addData(at(1))
      it.reads(a, 1, 25)
      it.comesTo(30)
      it.reads(b, 30)
      waits(it, 60)
      assert(it.rows === Seq(Seq(10.0, 1)))
    }
  }

  test("while the query was stopped nobody was idle") {
    val (a, b) = (stream, stream)
    val folder = checkpoint()
    running(both(a, b), checkpoint = folder) { it =>
      b.addData(at(1))
      it.reads(a, 1)
      it.comesTo(50)
    }
    clock.set(Start + 1000000)
    running(both(a, b), checkpoint = folder) { it =>
      it.reads(a, 25)
      waits(it, 1059.999)
      assert(it.rows === Nil)
      waits(it, 1060)
      assert(it.rows === Seq(Seq(10.0, 2)))
    }
  }

  test("a batch that is replayed has the watermark that it had, and gives out the same") {
    val (a, b) = (stream, stream)
    val folder = checkpoint()
    running(both(a, b), checkpoint = folder) { it =>
      it.reads(a, 1, 25)
      waits(it, 60)
      assert(it.rows === Seq(Seq(10.0, 1)))
    }
    val last = uncommitLast(folder)
    running(both(a, b), checkpoint = folder) { it =>
      waits(it, 70)
      assert(it.rows === Seq(Seq(10.0, 1)))
      assert(it.query.recentProgress.head.batchId === last)
      assert(it.watermark === 15.0)
      it.reads(a, 95)
      assert(it.watermark === 15.0) // the other source counts again, as none was idle when the run began
      waits(it, 130)
      assert(it.watermark === 85.0)
    }
  }

  test("one side of a join is silent: rows without a match are given out") {
    val (left, right) = (stream, stream)
    val joined = ordinary(left.toDF()).select(col("value").as("l")).join(
      ordinary(right.toDF()).select(col("value").as("r")),
      expr("l = r"),
      "left_outer"
    ).select(seconds("l"), seconds("r"))
    running(joined) { it =>
      right.addData(at(1))
      it.reads(left, 2, 25)
      waits(it, 59)
      assert(it.rows === Nil)
      waits(it, 60)
      assert(it.rows === Seq(Seq[Any](2.0, null)))
    }
  }

  test("next to a system-time watermark an idle source goes by the clock") {
    val (a, b) = (stream, stream)
    running(windows(ordinary(a.toDF()).union(lagging(b)))) { it =>
      it.reads(a, 1)
      waits(it, 59)
      assert(it.rows === Nil)
      waits(it, 60)
      assert(it.rows === Seq(Seq(10.0, 1)))
      waits(it, 75)
      assert(it.watermark === 65.0)
    }
  }

  test("surfaces show since when a source is idle, and who holds back instead") {
    val (a, b) = (stream, stream)
    val df = windows(ordinary(a.toDF()).withE2ELatency("source").union(ordinary(b.toDF())))
    running(df) { it =>
      it.reads(a, 1, 25)
      it.comesTo(5)
      it.reads(b, 3)
      waits(it, 65)
      it.reads(a, 45)
      val shown = latencyOf(it.query.name).get("queries").get(0).get("lastBatch").get("watermarks")
      assert((0 to 1).map(shown.get(_).get("holdsBack").asBoolean) === Seq(true, false))
      assert(shown.get(0).get("idleSince").isNull)
      assert(shown.get(1).get("idleSince").asLong === Start + 5000)
      val port = URI.create(spark.sparkContext.uiWebUrl.get).getPort
      val page = Source.fromURL(s"http://127.0.0.1:$port/latency/query/?id=${it.query.runId}").mkString
      assert(page.contains("event-time, idle since 1970"))
    }
  }

  test("a source may have a timeout of its own") {
    withSettings("spark.sparklatency.watermark.idle.timeout" -> "0") {
      val (a, b, c) = (stream, stream, stream)
      val timed = ordinary(a.toDF()).union(ordinary(b.toDF()).withIdleTimeout("5 seconds"))
      running(windows(timed.union(ordinary(c.toDF())))) { it =>
        c.addData(at(12))
        it.reads(a, 1, 25)
        waits(it, 4)
        assert(it.watermark === -1000.0) // of the one that never spoke
        waits(it, 5)
        assert(it.watermark === 2.0)
        waits(it, 100000)
        assert(it.watermark === 2.0)
      }
    }
    spark.conf.set("spark.sparklatency.watermark.idle.timeout", "1m")
  }

  test("a timeout as a hint, over a relation with a watermark") {
    val (a, b) = (stream, stream)
    ordinary(b.toDF()).createOrReplaceTempView("may_be_idle")
    val hinted: DataFrame = spark.sql("SELECT /*+ IDLE_TIMEOUT('5 seconds') */ * FROM may_be_idle")
    running(windows(ordinary(a.toDF()).union(hinted))) { it =>
      it.reads(a, 1, 25)
      waits(it, 5)
      assert(it.rows === Seq(Seq(10.0, 1)))
    }
  }

  test("a timeout where none can be, or that is none, is refused at the call") {
    def refused(call: => Any): String = intercept[IllegalArgumentException](call).getMessage
    val input = stream
    for (bad <- Seq("soon", "-1 second", "0 seconds", null))
      assert(refused(ordinary(input.toDF()).withIdleTimeout(bad)) ===
        s"idle timeout: '$bad' is not an interval longer than 0; give one such as '5 minutes'")
    assert(refused(input.toDF().withIdleTimeout("1 second")) ===
      "idle timeout: there is no watermark here; call withWatermark before")
    assert(
      refused(lagging(input).withIdleTimeout("1 second")) ===
        "idle timeout: the watermark on 'value' goes by the clock, so its source is never idle; leave the timeout out"
    )
    input.toDF().createOrReplaceTempView("bad_timeout")
    assert(refused(spark.sql("SELECT /*+ IDLE_TIMEOUT(1, 2) */ * FROM bad_timeout")) ===
      "IDLE_TIMEOUT(1, 2): a timeout is expected; use IDLE_TIMEOUT('5 minutes')")
    val batch = spark.range(1).toDF()
    assert(batch.withIdleTimeout("1 second") eq batch)
  }

  test("with one watermark there is nobody to hold back") {
    val input = stream
    running(windows(ordinary(input.toDF()))) { it =>
      it.reads(input, 1, 25, 32)
      waits(it, 1000)
      assert(it.watermark === 22.0)
    }
  }

  test("a timeout that is none fails when the query is started") {
    withSettings("spark.sparklatency.watermark.idle.timeout" -> "-1s") {
      val refused = intercept[IllegalArgumentException](running(both(stream, stream))(_ => ()))
      assert(refused.getMessage === "spark.sparklatency.watermark.idle.timeout=-1s is not valid: a duration such as 5m or " +
        "30s; 0 for never is allowed")
    }
    spark.conf.set("spark.sparklatency.watermark.idle.timeout", "1m")
  }
}
