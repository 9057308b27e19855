package sparklatency.bench

import org.HdrHistogram.Histogram
import org.apache.spark.sql.functions.udf
import org.apache.spark.sql.latency.compat.SparkSession

/** What people write for want of a mark: Scala UDFs that read the clock for every row. */
object Alternatives {

  /** Neither locked nor kept apart by task: as cheap as it can be, and wrong with two tasks in one JVM. */
  private val histogram = new Histogram(2)

  def register(session: SparkSession): Unit = {
    session.udf.register("now_millis", udf(() => System.currentTimeMillis()).asNondeterministic())
    session.udf.register("record_latency", udf(record _).asNondeterministic())
  }

  private def record(micros: Long): Boolean = {
    histogram.recordValue(math.max(0, System.currentTimeMillis() - micros / 1000))
    true
  }
}
