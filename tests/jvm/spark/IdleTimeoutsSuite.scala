package io.sparklatency.spark

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame

/** Which sources have an idle timeout, and which timeouts are none. */
class IdleTimeoutsSuite extends IdleSourcesTest {
  test("without the timeout it holds it back for ever") {
    withSettings(setting -> "0") {
      runningBoth() { (it, a, b) =>
        b.addData(at(1))
        it.reads(a, 1, 25)
        waits(it, 100000)
        assert(it.rows === Nil)
      }
    }
  }

  test("a source may have a timeout of its own") {
    withSettings(setting -> "0") {
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

  test("a timeout of another session, by a global view") {
    val (a, b) = (stream, stream)
    ordinary(
      a.toDF()
    ).union(ordinary(b.toDF()).withIdleTimeout("5 seconds")).createOrReplaceGlobalTempView("timed")
    running(windows(spark.newSession().table("global_temp.timed"))) { it =>
      it.reads(a, 1, 25)
      waits(it, 5)
      assert(it.rows === Seq(Seq(10.0, 1)))
    }
  }

  test("a timeout where none can be, or that is none, is refused at the call") {
    def refused(call: => Any): String = intercept[IllegalArgumentException](call).getMessage
    val input = stream
    for (bad <- Seq("soon", "-1 second", "0 seconds", "1 microsecond", null))
      assert(refused(ordinary(input.toDF()).withIdleTimeout(bad)) ===
        s"idle timeout: '$bad' is not an interval of at least a millisecond; give one such as '5 minutes'")
    for (bad <- Seq("367 days", "13 months", "99999999 days"))
      assert(
        refused(ordinary(input.toDF()).withIdleTimeout(bad)) ===
          s"idle timeout: '$bad' is longer than a year: a silent source would hold the others back as long; " +
          "give one such as '5 minutes'"
      )
    assert(refused(input.toDF().withIdleTimeout("1 second")) ===
      "idle timeout: there is no watermark here; call withWatermark before")
    assert(
      refused(lagging(input).withIdleTimeout("1 second")) ===
        "idle timeout: the watermark on 'value' goes by the clock, so its source is never idle; leave the timeout out"
    )
    input.toDF().createOrReplaceTempView("bad_timeout")
    assert(refused(spark.sql("SELECT /*+ IDLE_TIMEOUT(1, 2) */ * FROM bad_timeout")) ===
      "IDLE_TIMEOUT(1, 2): a timeout is expected; use IDLE_TIMEOUT('5 minutes')")
    assert(refused(spark.sql("SELECT /*+ IDLE_TIMEOUT(timeout) */ * FROM bad_timeout")) ===
      "IDLE_TIMEOUT(timeout): a timeout is expected; use IDLE_TIMEOUT('5 minutes')")
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
    for (bad <- Seq("-1s", "1us", "367d")) withSettings(setting -> bad) {
      val refused = intercept[IllegalArgumentException](running(both(stream, stream))(_ => ()))
      assert(refused.getMessage === s"spark.sparklatency.watermark.idle.timeout=$bad is not valid: a duration from 1ms to " +
        "366d such as 5m or 30s; 0 for never is allowed")
    }
  }
}
