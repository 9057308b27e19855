package io.sparklatency.spark.base

import java.util.Locale

import scala.util.Try

import io.sparklatency.answer.Readable
import io.sparklatency.figures.FiguresSettings
import io.sparklatency.figures.Granularity
import io.sparklatency.figures.MarkerSettings
import io.sparklatency.figures.WindowSettings
import io.sparklatency.recording.RecordingLevel
import org.apache.spark.SparkConf
import org.apache.spark.internal.Logging
import org.apache.spark.network.util.JavaUtils
import org.apache.spark.sql.SparkSession

/**
 * The settings `spark.sparklatency.*`, read from wherever Spark keeps settings. A bad value fails when it is read. The error
 * names the key, the value and what is allowed. An unknown key is a warning in the log.
 *
 * Reads and parses at each call, and keeps nothing. Callers ask once for a plan or an application, never for a record. Any
 * thread may ask.
 */
final class LatencyConf(read: String => Option[String], all: => Iterable[(String, String)]) {
  import LatencyConf._

  /** The level of queries that have none of their own. */
  def recordingLevel: RecordingLevel = get(RecordingLevelKey)

  /** The level that is set for the query of this name, if one is. */
  def levelOf(query: String): Option[RecordingLevel] = {
    val key = QueryLevels + query
    read(key).map(parsed(key, QueryLevelKey, _))
  }

  /** All levels that are set for single queries. */
  def levelsOfQueries: Iterable[RecordingLevel] = all.collect {
    case (key, value) if isOfQuery(key) => parsed(key, QueryLevelKey, value)
  }

  def auto: Set[NodeRole] = get(Auto)
  def autoBatch: Boolean = get(AutoBatch)
  def autoIngestion: Boolean = get(AutoIngestion)
  def autoAcrossShuffles: Boolean = get(AutoAcrossShuffles)
  def forceTimestampSupport: Boolean = get(ForceTimestampSupport)
  def publishAfter: Long = get(PublishAfter)
  def clockInterval: Option[Long] = get(ClockInterval)
  def watermarkInterval: Long = get(WatermarkInterval)
  def watermarkIdleTimeout: Option[Long] = get(WatermarkIdleTimeout)
  def markers: MarkerSettings = MarkerSettings(get(MarkersInterval), get(MarkersGranularity))
  def historyBatches: Int = get(HistoryBatches)
  def figures: FiguresSettings =
    FiguresSettings(WindowSettings(get(NumSamples), get(SampleWindow)), get(GranularityKey), get(MaxNodes))

  /** Reads every key, so that a mistake shows at once. */
  def validate(): Unit = {
    keys.foreach(get(_))
    levelsOfQueries.foreach(_ => ())
  }

  private def get[A](key: Key[A]): A = parsed(key.name, key, read(key.name).getOrElse(key.default))

  private def parsed[A](name: String, key: Key[A], value: String): A =
    key.parse(value).getOrElse(throw new IllegalArgumentException(
      s"${Readable.cut(name)}=${Readable.cut(value)} is not valid: ${key.allowed} is allowed"
    ))
}

/** All keys, each declared once with its default and its words. The reference is made from them. */
object LatencyConf extends Logging {
  private val Prefix = "spark.sparklatency."

  /**
   * One setting. Immutable; parses a value at each call of `parse`.
   *
   * @param default as a user would write it
   * @param allowed in words
   * @param doc     what it does, and when it is read; Markdown
   * @param parse   none for a value that is not allowed
   */
  final class Key[A](val name: String, val default: String, val allowed: String, val doc: String)(
      val parse: String => Option[A]
  )

  private val Durations = "a duration from 1ms to 366d such as"

  val RecordingLevelKey: Key[RecordingLevel] = new Key(
    s"${Prefix}recording.level",
    RecordingLevel.Info.name,
    RecordingLevel.all.mkString(", "),
    "Nodes up to this level are recorded. `NONE` leaves every plan as if it had no node. Read when a mark is made; for " +
      "automatic nodes, from the session when the query starts."
  )(level)

  private val QueryLevels = s"${RecordingLevelKey.name}."

  /** One for each query: its name stands at the end of the key. */
  val QueryLevelKey: Key[RecordingLevel] = new Key(
    s"$QueryLevels<query>",
    "",
    RecordingLevelKey.allowed,
    s"The same for the query of this name, in place of `${RecordingLevelKey.name}`: lower or higher. `__batch__` is all batch " +
      "queries. If it is higher, set it before the marks are made: one made earlier is left out. A name that no query has " +
      "changes nothing. Read when the query plans a batch, from the session as it was when the query started."
  )(level)

  val Auto: Key[Set[NodeRole]] = new Key(
    s"${Prefix}auto",
    "",
    s"a list of ${NodeRole.all.mkString(", ")}, or nothing,",
    "Which places of every streaming query are marked automatically. Read from the session when the query starts."
  )(rolesOf)

  val AutoBatch: Key[Boolean] = flag(
    s"${Prefix}auto.batch",
    s"Whether `${Prefix}auto` also marks batch queries, at sources and ends. Read from the session when a query runs."
  )

  val AutoIngestion: Key[Boolean] = flag(
    s"${Prefix}auto.ingestion",
    s"Whether `${Prefix}auto` stamps the records of streaming queries that have no timestamp at all as they are read, and tells their " +
      "ages by that. What is written stays the same. Read from the session when the query starts."
  )

  val AutoAcrossShuffles: Key[Boolean] = flag(
    s"${Prefix}auto.acrossShuffles",
    s"Whether the timestamp that `${Prefix}auto` takes along to the end of a streaming query also goes through shuffles, whose rows are " +
      "then 8 bytes longer. The rows that are written stay the same; a row may be in another file. Read from the session when the " +
      "query starts."
  )

  val ForceTimestampSupport: Key[Boolean] = flag(
    s"${Prefix}forceTimestampSupport",
    "Whether timestamps that nothing reads now stay in the plan up to the step that drops them: ingestion timestamps, and those of " +
      "nodes that their level leaves out. Shuffles and state have them then. So a node can be added later, and the query goes on from " +
      "its checkpoint. Read from the session when a DataFrame is made, and when a query plans a batch."
  )

  val GranularityKey: Key[Granularity] = new Key(
    s"${Prefix}granularity",
    FiguresSettings().granularity.name,
    Granularity.all.mkString(", "),
    "How much detail the driver keeps. `single`: only the nodes where a query ends (in continuous mode, where no batch " +
      "ends, every node). `operator`: every node. `subtask`: also an MBean for each node and task. Read once in an application."
  )(granularity)

  val MaxNodes: Key[Int] = new Key(
    s"${Prefix}nodes.max",
    FiguresSettings().maxNodes.toString,
    "a whole number from 1 to 100000",
    "How many nodes a process shows, and how many MBeans of tasks. The rest is added up in `__other__` and counted. Read once."
  )(whole(1, 100000))

  val PublishAfter: Key[Long] = new Key(
    s"${Prefix}publish.after",
    "10s",
    s"$Durations 10s or 500ms",
    "How long a task of a batch runs before it shows its figures, and how often it shows them again. In real-time and " +
      "continuous mode this is always half a second. Read when a batch is planned."
  )(duration)

  val ClockInterval: Key[Option[Long]] = new Key(
    s"${Prefix}clock.interval",
    "1s",
    s"$Durations 1s or 500ms; 0 for never",
    "How often an executor compares its clock with the driver's. It needs the plugin. Read when an executor starts."
  )(durationOrNone)

  val WatermarkInterval: Key[Long] = new Key(
    s"${Prefix}watermark.interval",
    "1s",
    s"$Durations 1s or 500ms",
    "How often a system-time watermark moves on, at most. In a query that keeps state each move runs a batch, also " +
      "without a record. Read from the session when a query starts."
  )(duration)

  val WatermarkIdleTimeout: Key[Option[Long]] = new Key(
    s"${Prefix}watermark.idle.timeout",
    "0",
    s"$Durations 5m or 30s; 0 for never",
    "How long a source of a query with several watermarks may be silent before it no longer holds the others back, until " +
      "it has a record again. Read from the session when a query starts."
  )(durationOrNone)

  val MarkersInterval: Key[Option[Long]] = new Key(
    s"${Prefix}markers.interval",
    "0",
    s"$Durations 1s or 500ms; 0 for never",
    "How often a batch of a streaming query carries latency markers, at most: see [markers](markers.md). Then nodes need no " +
      "timestamp. Read from the session when a query starts, and for a mark by hand when it is made."
  )(durationOrNone)

  val MarkersGranularity: Key[Granularity] = new Key(
    s"${Prefix}markers.granularity",
    MarkerSettings.Off.granularity.name,
    Granularity.all.mkString(", "),
    "How finely the figures of markers are kept apart. `single`: by the partitions of each node. `operator`: also by sources. " +
      s"`subtask`: also by the partitions of sources. At most `${Prefix}nodes.max` histograms. Read when a query starts."
  )(granularity)

  val HistoryBatches: Key[Int] = new Key(
    s"${Prefix}history.batches",
    "1000",
    "a whole number from 1 to 100000",
    "How many batches of each run of a query the driver and the History Server keep. If more than ten runs go on, each has fewer: " +
      "together they have ten times as many. So have the runs that have ended. Read once."
  )(whole(1, 100000))

  val NumSamples: Key[Int] = new Key(
    s"${Prefix}num.samples",
    WindowSettings().samples.toString,
    "a whole number from 1 to 100",
    "How many samples a gauge's window has. Read once in an application."
  )(whole(1, 100))

  val SampleWindow: Key[Long] = new Key(
    s"${Prefix}sample.window",
    s"${WindowSettings().sampleMs / 1000}s",
    s"$Durations 30s or 500ms",
    "How long a sample of a gauge's window takes records. Read once in an application."
  )(duration)

  val keys: Seq[Key[_]] =
    Seq(
      RecordingLevelKey,
      Auto,
      AutoBatch,
      AutoIngestion,
      AutoAcrossShuffles,
      ForceTimestampSupport,
      GranularityKey,
      MaxNodes,
      PublishAfter,
      ClockInterval,
      WatermarkInterval,
      WatermarkIdleTimeout,
      MarkersInterval,
      MarkersGranularity,
      HistoryBatches,
      NumSamples,
      SampleWindow
    )

  /** What the reference lists. */
  val documented: Seq[Key[_]] =
    keys.flatMap(key => if (key == RecordingLevelKey) Seq[Key[_]](key, QueryLevelKey) else Seq[Key[_]](key))

  private def flag(name: String, doc: String): Key[Boolean] =
    new Key(name, "false", "true, false", doc)(_.trim.toLowerCase(Locale.ROOT).toBooleanOption)

  private def isOfQuery(key: String): Boolean = key.startsWith(QueryLevels) && key.length > QueryLevels.length

  private def level(value: String): Option[RecordingLevel] = RecordingLevel.find(value.trim)

  private def granularity(value: String): Option[Granularity] =
    Granularity.all.find(_.name.equalsIgnoreCase(value.trim))

  private def whole(from: Int, to: Int)(value: String): Option[Int] =
    value.trim.toIntOption.filter(n => n >= from && n <= to)

  private def duration(value: String): Option[Long] = millis(value).filter(_ > 0)

  private def durationOrNone(value: String): Option[Option[Long]] =
    millis(value).filter(ms => ms > 0 || ms == 0 && !value.exists(isFigure))
      .map(ms => Option.when(ms > 0)(ms))

  /** Of what is less than a millisecond nothing is left, and yet it is not 0. */
  private def isFigure(char: Char): Boolean = '1' <= char && char <= '9'

  /**
   * Written as Spark's own settings are, `10s`, or as an interval of SQL, `10 seconds`, which `withWatermark` takes. In nanoseconds, or
   * times a hundred samples, a Long must hold it.
   */
  private def millis(value: String): Option[Long] =
    Try(JavaUtils.timeStringAsMs(value.trim).toLong).toOption
      .orElse(IntervalText.read(value).filter(_.months == 0).flatMap(IntervalText.millis))
      .filter(_ <= IntervalText.LongestMs)

  private def rolesOf(value: String): Option[Set[NodeRole]] = {
    val names = value.split(',').map(_.trim).filter(_.nonEmpty)
    val roles = names.flatMap(name => NodeRole.all.find(_.name.equalsIgnoreCase(name)))
    Option.when(roles.length == names.length)(roles.toSet)
  }

  def apply(conf: SparkConf): LatencyConf = new LatencyConf(conf.getOption, conf.getAll)

  /** For a reader who did not set the values, such as the History Server: the default stands in for a bad value. */
  def orDefaults(conf: SparkConf): LatencyConf = new LatencyConf(
    name =>
      conf.getOption(name).filter(value => keys.exists(key => key.name == name && key.parse(value).nonEmpty)),
    Nil
  )

  def apply(session: SparkSession): LatencyConf = new LatencyConf(session.conf.getOption, session.conf.getAll)

  def warnOfUnknownKeys(conf: SparkConf): Unit =
    for {
      (name, _) <- conf.getAll if name.startsWith(Prefix)
      if !isOfQuery(name) && !keys.exists(_.name == name)
    } logWarning(
      s"${Readable.cut(name)} is not a setting of sparklatency; there are ${documented.map(_.name).mkString(", ")}"
    )
}
