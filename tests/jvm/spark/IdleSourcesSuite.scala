package io.sparklatency.spark

import java.nio.file.Files

import org.apache.spark.sql.functions._
import org.apache.spark.sql.latency.TemporaryFolder

/** Sources that fall silent under an idle timeout of a minute. Delays and windows have 10 s. */
class IdleSourcesSuite extends IdleSourcesTest {
  test("a source that falls silent holds the other back for the timeout, and no longer") {
    runningBoth() { (it, a, b) =>
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

  test("a source that never had a record, and takes part when it has one") {
    runningBoth() { (it, a, b) =>
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
    runningBoth() { (it, a, b) =>
      it.reads(a, 1, 25)
      waits(it, 60)
      it.reads(b, 2)
      it.reads(a, 26)
      assert(it.watermark === 15.0)
      assert(it.rows === Seq(Seq(10.0, 1)))
    }
  }

  test("when all are idle nobody is waited for, and the greatest watermark counts") {
    runningBoth() { (it, a, b) =>
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
    def comesMeanwhile(batch: Long): Unit = if (batch == 1) {
      clock.advance(100000)
      b.addData(at(2)): Unit
    }
    running(both(a, b), during = comesMeanwhile) { it =>
      it.reads(b, 1)
      it.reads(a, 1, 25)
      assert(it.rows.size === 0)
      waits(it, 160)
      assert(it.rows.size === 1)
    }
  }

  test("a batch of an hour makes nobody idle though nothing came") {
    runningBoth(during = batch => if (batch == 1) clock.advance(3600000)) { (it, a, b) =>
      it.reads(b, 1)
      it.reads(a, 1, 25)
      waits(it, 3600 + 53.999) // of the hour a tenth of the timeout counts
      assert(it.rows.size === 0)
      waits(it, 3600 + 54)
      assert(it.rows.size === 1)
    }
  }

  test("while a source has more than is admitted it is not idle") {
    val a = stream
    val folder = TemporaryFolder("limited")
    for (number <- 1 to 12) { // of which the last passes
      val file = folder.resolve(s"$number.json")
      Files.writeString(file, s"""{"s": ${number / 12 * 3}}""")
      assert(file.toFile.setLastModified(Start + number * 1000L))
    }
    val limited = spark.readStream.schema("s LONG").option("maxFilesPerTrigger", 1).json(folder.toString)
      .where("s = 3").selectExpr(s"timestamp_millis($Start + s * 1000) as value")
    a.addData(at(1, 25))
    val df = windows(ordinary(a.toDF()).union(ordinary(limited)))
    running(df, during = batch => if (batch < 11) clock.advance(10000)) { it =>
      processAll(it.query)
      assert(it.rows.size === 0)
      waits(it, 170)
      assert(it.rows.size === 1)
    }
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

  test(
    "a source of files whose records are all filtered out is silent, also where each trigger finds a file"
  ) {
    val a = stream
    val folder = TemporaryFolder("filtered")
    val files = spark.readStream.schema("s LONG").json(folder.toString)
      .where("s = 3").selectExpr(s"timestamp_millis($Start + s * 1000) as value")
    a.addData(at(1, 25))
    val df = windows(ordinary(a.toDF()).union(ordinary(files)))
    // Of each batch a tenth of the timeout counts.
    def comes(batch: Long): Unit = if (batch < 15) {
      Files.writeString(folder.resolve(s"$batch.json"), """{"s": 1}""")
      clock.advance(6000)
    }
    running(df, during = comes) { it =>
      processAll(it.query)
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
}
