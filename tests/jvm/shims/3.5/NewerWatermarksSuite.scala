package io.sparklatency.spark

import io.sparklatency.spark.syntax._
import org.apache.spark.sql.DataFrame

/** What Spark 3.5 cannot have is refused in words, whichever way it is asked for. */
class NewerWatermarksSuite extends StreamingTest {
  private def refused(what: String)(body: => Any): Unit = {
    val why = intercept[IllegalArgumentException](body)
    assert(why.getMessage === s"$what needs Spark 4.0 or newer, and this is Spark 3.5; leave it out")
  }

  private def events: DataFrame = watermarked(stream)

  test("a system-time watermark is refused") {
    refused("a system-time watermark")(stream.toDF().withSystemTimeWatermark("value", "1 second"))
    refused("a system-time watermark")(PythonApi.withSystemTimeWatermark(stream.toDF(), "value", "1 second"))
    refused("a system-time watermark") {
      stream.toDF().hint("SYSTEM_TIME_WATERMARK", "value", "1 second").queryExecution.analyzed
    }
  }

  test("an idle timeout is refused") {
    refused("an idle timeout")(events.withIdleTimeout("1 minute"))
    refused("an idle timeout")(PythonApi.withIdleTimeout(events, "1 minute"))
    refused("an idle timeout")(events.hint("idle_timeout", "1 minute").queryExecution.analyzed)
  }

  test("a query is refused under the setting of idle timeouts, and nothing else is") {
    withSettings("spark.sparklatency.watermark.idle.timeout" -> "1m") {
      assert(spark.range(3).count() === 3)
      refused("the idle timeout of spark.sparklatency.watermark.idle.timeout") {
        start(events, "under_a_timeout").stop()
      }
    }
    start(events, "without_a_timeout").stop()
  }
}
