package io.sparklatency.spark

import java.sql.Timestamp

import io.sparklatency.spark.Lines.MemoryStream
import org.apache.spark.sql.DataFrame

/** Queries under an idle timeout of a minute. Delays and windows have 10 s. */
trait IdleSourcesTest extends SystemTimeTest {
  protected val setting = "spark.sparklatency.watermark.idle.timeout"

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark.conf.set(setting, "1m")
  }

  override protected def afterAll(): Unit = {
    spark.conf.unset(setting)
    super.afterAll()
  }

  protected def ordinary(df: DataFrame): DataFrame = df.withWatermark("value", "10 seconds")

  protected def both(a: MemoryStream[Timestamp], b: MemoryStream[Timestamp]): DataFrame =
    windows(ordinary(a.toDF()).union(ordinary(b.toDF())))

  /** A query over both of two sources, with the sources. */
  protected def runningBoth(during: Long => Unit = _ => ())(
      body: (Running, MemoryStream[Timestamp], MemoryStream[Timestamp]) => Unit
  ): Unit = {
    val (a, b) = (stream, stream)
    running(both(a, b), during = during)(body(_, a, b))
  }

  /** What was found silent has its consequences at the next trigger. */
  protected def waits(it: Running, second: Double): Unit = {
    it.comesTo(second)
    processAll(it.query)
  }
}
