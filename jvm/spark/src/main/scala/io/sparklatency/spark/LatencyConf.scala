package io.sparklatency.spark

import java.util.Locale

import scala.util.Try

import io.sparklatency.FiguresSettings
import io.sparklatency.Granularity
import io.sparklatency.NodeRole
import io.sparklatency.RecordingLevel
import io.sparklatency.WindowSettings
import org.apache.spark.SparkConf
import org.apache.spark.internal.Logging
import org.apache.spark.network.util.JavaUtils
import org.apache.spark.sql.SparkSession

/**
 * The settings `spark.sparklatency.*`, read from wherever Spark keeps settings. A bad value fails when it is read, with the key,
 * the value and what is allowed; a key that does not exist is warned of.
 */
final class LatencyConf(read: String => Option[String]) {
  import LatencyConf._

  def recordingLevel: RecordingLevel = get(RecordingLevelKey)
  def auto: Set[NodeRole] = get(Auto)
  def autoBatch: Boolean = get(AutoBatch)
  def publishAfter: Long = get(PublishAfter)
  def historyBatches: Int = get(HistoryBatches)
  def figures: FiguresSettings =
    FiguresSettings(WindowSettings(get(NumSamples), get(SampleWindow)), get(GranularityKey), get(MaxNodes))

  /** Reads every key, so that a mistake shows at once. */
  def validate(): Unit = keys.foreach(get(_))

  private def get[A](key: Key[A]): A = {
    val value = read(key.name).getOrElse(key.default)
    key.parse(value).getOrElse(throw new IllegalArgumentException(
      s"${key.name}=$value is not valid: ${key.allowed} is allowed"
    ))
  }
}

object LatencyConf extends Logging {
  private val Prefix = "spark.sparklatency."

  /**
   * @param default as a user would write it
   * @param allowed in words
   * @param doc     what it does, and when it is read; Markdown
   */
  final class Key[A](val name: String, val default: String, val allowed: String, val doc: String)(
      val parse: String => Option[A]
  )

  val RecordingLevelKey: Key[RecordingLevel] = new Key(
    s"${Prefix}recording.level",
    RecordingLevel.Info.name,
    RecordingLevel.all.mkString(", "),
    "Nodes up to this level are recorded; `NONE` leaves every plan as if no node had been written. Read when a node is " +
      "written, and for automatic nodes from the session when the query starts."
  )(RecordingLevel.find)

  val Auto: Key[Set[NodeRole]] = new Key(
    s"${Prefix}auto",
    "",
    s"a list of ${NodeRole.all.mkString(", ")}, or nothing,",
    "Where a streaming query is marked without a change to its code. Read from the session when the query starts."
  )(rolesOf)

  val AutoBatch: Key[Boolean] = new Key(
    s"${Prefix}auto.batch",
    "false",
    "true, false",
    s"Whether `${Prefix}auto` holds for batch queries too, at sources and ends. Read from the session when a query runs."
  )(_.trim.toLowerCase(Locale.ROOT).toBooleanOption)

  val GranularityKey: Key[Granularity] = new Key(
    s"${Prefix}granularity",
    FiguresSettings().granularity.name,
    Granularity.all.mkString(", "),
    "How finely the driver keeps figures. `single`: of nodes where a query ends (in continuous mode, where no batch ends, " +
      "of every node); `operator`: of every node; `subtask`: an MBean for each node and task too. Read once in an application."
  )(value => Granularity.all.find(_.name.equalsIgnoreCase(value.trim)))

  val MaxNodes: Key[Int] = new Key(
    s"${Prefix}nodes.max",
    FiguresSettings().maxNodes.toString,
    "a whole number from 1 to 100000",
    "How many nodes, and how many MBeans of tasks, a process shows; the rest is folded into `__other__` and counted. Read once."
  )(whole(1, 100000))

  val PublishAfter: Key[Long] = new Key(
    s"${Prefix}publish.after",
    "10s",
    "a positive duration such as 10s or 500ms",
    "How long a task of a batch runs before its figures show, and again; in real-time and continuous mode it is half a " +
      "second. Read when a batch is planned."
  )(duration)

  val HistoryBatches: Key[Int] = new Key(
    s"${Prefix}history.batches",
    "1000",
    "a whole number from 1 to 100000",
    "How many batches of each run of a query are kept to look at, on the driver and in the History Server. Read once."
  )(whole(1, 100000))

  val NumSamples: Key[Int] = new Key(
    s"${Prefix}num.samples",
    WindowSettings().samples.toString,
    "a whole number from 1 to 100",
    "How many samples a gauge's window holds. Read once in an application."
  )(whole(1, 100))

  val SampleWindow: Key[Long] = new Key(
    s"${Prefix}sample.window",
    s"${WindowSettings().sampleMs / 1000}s",
    "a positive duration such as 30s or 500ms",
    "How long a sample of a gauge's window takes records. Read once in an application."
  )(duration)

  val keys: Seq[Key[_]] =
    Seq(
      RecordingLevelKey,
      Auto,
      AutoBatch,
      GranularityKey,
      MaxNodes,
      PublishAfter,
      HistoryBatches,
      NumSamples,
      SampleWindow
    )

  private def whole(from: Int, to: Int)(value: String): Option[Int] =
    value.trim.toIntOption.filter(n => n >= from && n <= to)

  private def duration(value: String): Option[Long] =
    Try(JavaUtils.timeStringAsMs(value.trim)).toOption.filter(_ > 0)

  private def rolesOf(value: String): Option[Set[NodeRole]] = {
    val names = value.split(',').map(_.trim).filter(_.nonEmpty)
    val roles = names.flatMap(name => NodeRole.all.find(_.name.equalsIgnoreCase(name)))
    Option.when(roles.length == names.length)(roles.toSet)
  }

  def apply(conf: SparkConf): LatencyConf = new LatencyConf(conf.getOption)

  /** Where a bad value is not the reader's own: the default stands for it. */
  def orDefaults(conf: SparkConf): LatencyConf = new LatencyConf(name =>
    conf.getOption(name).filter(value => keys.exists(key => key.name == name && key.parse(value).nonEmpty))
  )

  def apply(session: SparkSession): LatencyConf = new LatencyConf(session.conf.getOption)

  def warnOfUnknownKeys(conf: SparkConf): Unit =
    conf.getAll.map { case (name, _) => name }.filter(_.startsWith(Prefix)).filterNot(name =>
      keys.exists(_.name == name)
    )
      .foreach(name =>
        logWarning(s"$name is not a setting of sparklatency; there are ${keys.map(_.name).mkString(", ")}")
      )
}
