package sparklatency.bench

import scala.util.Random

import org.HdrHistogram.Histogram
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke
import org.apache.spark.sql.functions.udf
import org.apache.spark.sql.latency.compat.SparkSession
import org.apache.spark.sql.types.LongType
import org.apache.spark.sql.types.TimestampType

/** What people write for want of a mark: Scala UDFs that read the clock for every row. */
object Alternatives {

  /** Neither locked nor kept apart by task: as cheap as it can be, and wrong with two tasks in one JVM. */
  private val histogram = new Histogram(2)

  def register(session: SparkSession): Unit = {
    session.udf.register("now_millis", udf(() => System.currentTimeMillis()).asNondeterministic())
    session.udf.register("record_latency", udf(record _).asNondeterministic())
    session.sessionState.functionRegistry.createOrReplaceTempFunction("stamp", stamp, "scala_udf")
  }

  private def stamp(ids: Seq[Expression]): Expression =
    StaticInvoke(Stamps.getClass, TimestampType, "micros", ids, Seq(LongType), returnNullable = false)

  private def record(micros: Long): Boolean = {
    histogram.recordValue(math.max(0, System.currentTimeMillis() - micros / 1000))
    true
  }
}

/**
 * Timestamps of records whose ages at the start of a run are spread in a known way. They are looked up, so that a record costs
 * little beside the mark. They are no literals: a run whose code has another constant would be compiled anew.
 */
object Stamps {
  private final val Ages = 1 << 14

  private var agesMicros = new Array[Long](Ages)
  private var now = 0L
  private var recordsOfAnAge = 0 // as a power of two

  /** Begins a run. `spread` is `constant`, `random` (log-uniform from 1 ms to 10 s) or `sorted` (the same, oldest first). */
  def begin(spread: String, rows: Long): Unit = {
    val random = new Random(1)
    def logUniform = (1000 * math.pow(10000, random.nextDouble())).toLong
    agesMicros = spread match {
      case "constant" => Array.fill(Ages)(150000L)
      case "random" => Array.fill(Ages)(logUniform)
      case "sorted" => Array.fill(Ages)(logUniform).sorted.reverse
    }
    recordsOfAnAge = if (spread == "sorted") 64 - java.lang.Long.numberOfLeadingZeros(rows / Ages) else 0
    now = System.currentTimeMillis() * 1000
  }

  def micros(id: Long): Long = now - agesMicros(((id >> recordsOfAnAge) & (Ages - 1)).toInt)
}
