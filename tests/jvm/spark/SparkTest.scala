package io.sparklatency.spark

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.ObjectMapper
import io.sparklatency.spark.Lines.ClassicSession
import io.sparklatency.spark.Lines.PlainCheckpoints
import io.sparklatency.time.ManualClock
import io.sparklatency.time.WallClock
import org.apache.spark.SparkEnv
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.functions.udf
import org.apache.spark.sql.latency.LateEvents
import org.apache.spark.sql.latency.ListenerBus
import org.apache.spark.sql.latency.TemporaryFolder
import org.apache.spark.sql.latency.application.LatencyApplication
import org.scalatest.BeforeAndAfterAll
import org.scalatest.BeforeAndAfterEach
import org.scalatest.concurrent.Signaler
import org.scalatest.concurrent.ThreadSignaler
import org.scalatest.concurrent.TimeLimitedTests
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.Minutes
import org.scalatest.time.Span

/** A local session with the finest granularity, whose tasks soon publish, a clock that stands still, and the figures as a user reads them. */
trait SparkTest extends AnyFunSuite with BeforeAndAfterAll with BeforeAndAfterEach with TimeLimitedTests {

  /** A test that waits in vain fails, and says where it stood. None takes a minute on a quiet machine. */
  override val timeLimit: Span = Span(60, Minutes)
  override val defaultTestSignaler: Signaler = ThreadSignaler

  protected val clock: ManualClock = SparkTest.clock
  protected val Start = 1000000L
  protected lazy val spark: ClassicSession = SparkTest.session

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    WallClock.install(clock)
  }

  override protected def beforeEach(): Unit = {
    super.beforeEach()
    clock.set(Start)
    spark
  }

  override protected def afterAll(): Unit =
    try WallClock.reset()
    finally super.afterAll()

  /** A node id that no other test has: all batch queries of an application share one list of nodes. */
  protected def freshNode(): String = s"node-${SparkTest.nodes.incrementAndGet()}"

  /** With the clock on the wall: what another thread looks at goes on by itself. */
  protected def byTheWall(body: => Unit): Unit = {
    WallClock.reset()
    try body
    finally WallClock.install(clock)
  }

  /** A function of a row that takes `ms` milliseconds of the test's clock. */
  protected def slow(ms: Long) = slowAndDeterministic(ms).asNondeterministic()

  /** The same, which Spark may compute where it is first needed. What is nondeterministic it computes where it stands. */
  protected def slowAndDeterministic(ms: Long) = {
    val clock = SparkTest.Sleep(ms)
    udf((id: Long) => clock(id))
  }

  /** Runs all of `df`, until its figures are there. */
  protected def run(df: DataFrame): Unit = {
    df.write.format("noop").mode("overwrite").save()
    ListenerBus.awaitEmpty(spark.sparkContext)
  }

  /** What is said to a user's mistake. */
  protected def refused(call: => Any): String = intercept[IllegalArgumentException](call).getMessage

  /** Writes what foreachBatch is given where it is gone. */
  protected def drop(batch: DataFrame): Unit = batch.write.format("noop").mode("append").save()

  protected def withSettings[A](settings: (String, String)*)(body: => A): A = {
    val before = settings.map { case (key, _) => key -> spark.conf.getOption(key) }
    settings.foreach { case (key, value) => spark.conf.set(key, value) }
    try body
    finally before.foreach {
        case (key, Some(value)) => spark.conf.set(key, value)
        case (key, None) => spark.conf.unset(key)
      }
  }

  protected def node(id: String, query: String = "__batch__"): ShownNode =
    findNode(id, query).getOrElse(fail(s"there are no figures of node '$id' in query '$query'"))

  /** What a user reads of one query or of all, once all that has happened is in it. */
  protected def latencyOf(query: String): JsonNode = {
    LatencyApplication.running(spark.sparkContext)
    ListenerBus.awaitEmpty(spark.sparkContext)
    new ObjectMapper().readTree(PythonApi.latencyJson(spark, query))
  }

  /** What a user reads of one query. */
  protected def queryOf(name: String): JsonNode = latencyOf(name).get("queries").get(0)

  /** Without a mark nobody else makes the application, which is to know of queries. */
  protected def listen(): Unit = {
    latencyOf(null)
    ()
  }

  protected def findNode(id: String, query: String = "__batch__"): Option[ShownNode] =
    latencyOf(null).get("queries").elements.asScala.filter(_.get("query").asText == query)
      .flatMap(_.get("nodes").elements.asScala).find(_.get("node").asText == id).map(new ShownNode(_))

  /** Every gauge of ours in Spark's metrics system, by its name without application and process. */
  protected def gauges: Map[String, Any] = {
    ListenerBus.awaitEmpty(spark.sparkContext)
    SparkEnv.get.metricsSystem.getSourcesByName("sparklatency").flatMap { source =>
      source.metricRegistry.getGauges.asScala.map { case (name, gauge) => name -> gauge.getValue }
    }.toMap
  }
}

final class ShownNode(json: JsonNode) {
  def long(field: String): Option[Long] = Option(json.get(field)).filterNot(_.isNull).map(_.asLong)

  /** The figures of another measure, such as `staleness`. */
  def measure(field: String): Option[ShownNode] =
    Option(json.get(field)).filterNot(_.isNull).map(new ShownNode(_))
  def records: Long = long("records").get
  def min: Option[Long] = long("min")
  def max: Option[Long] = long("max")
  def avg: Option[Double] = double("avg")

  /** How many records, the youngest and the oldest of them. */
  def figures: (Long, Option[Long], Option[Long]) = (records, min, max)
  def text(field: String): Option[String] = Option(json.get(field)).filterNot(_.isNull).map(_.asText)
  def double(field: String): Option[Double] = Option(json.get(field)).filterNot(_.isNull).map(_.asDouble)
  override def toString: String = json.toString
}

object SparkTest {
  val clock = new ManualClock(0)

  /** After how long a task publishes for the first time. */
  val PublishAfterMs = 500L

  private val nodes = new java.util.concurrent.atomic.AtomicInteger

  lazy val session: ClassicSession = {
    val session = SparkSession.builder().master("local[2]").appName("sparklatency")
      .config("spark.ui.port", "0")
      .config("spark.sql.shuffle.partitions", "2")
      // Not in the working folder: the suites of another line run in it at the same time.
      .config("spark.sql.warehouse.dir", TemporaryFolder("warehouse").toString)
      // Where Hadoop has no native library the usual ones start processes for each file, a third of what a batch takes here.
      .config("spark.hadoop.fs.file.impl", classOf[PlainFiles].getName)
      .config("spark.sql.streaming.checkpointFileManagerClass", classOf[PlainCheckpoints].getName)
      .config("spark.sql.session.timeZone", "UTC")
      .config("spark.sparklatency.granularity", "subtask")
      .config("spark.sparklatency.publish.after", s"${PublishAfterMs}ms")
      .getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    sys.env.get("LATE_EVENTS").filter(_.nonEmpty).foreach(ms =>
      LateEvents.in(session.sparkContext, ms.toLong)
    )
    session.asInstanceOf[ClassicSession]
  }

  /** The tasks of a local session read and set the same clock as the test. */
  final case class Sleep(ms: Long) {
    def apply(id: Long): Long = { SparkTest.clock.advance(ms); id }
  }
}
