package org.apache.spark.sql.latency.tracking

import scala.collection.mutable

import io.sparklatency.figures.Admission
import io.sparklatency.figures.Phase
import io.sparklatency.figures.Trigger
import org.apache.spark.sql.execution.FileSourceScanExec
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.datasources.v2.MicroBatchScanExec
import org.apache.spark.sql.execution.streaming.ProcessingTimeTrigger
import org.apache.spark.sql.latency.compat.IncrementalExecution
import org.apache.spark.sql.latency.compat.ReadLimits
import org.apache.spark.sql.latency.compat.StreamExecution
import org.apache.spark.sql.latency.compat.isOfStream
import org.apache.spark.sql.latency.planning.RecordSource
import org.apache.spark.sql.latency.planning.StreamingQuerySources
import org.apache.spark.sql.streaming.StreamingQueryProgress

/**
 * When each batch could have begun, and what held its records back: what Spark's progress says of the batch and of the one before,
 * by the driver's clock.
 *
 * Keeps a few numbers for each run until it ends. A batch costs a walk over its plan for the files that it reads. Not thread-safe: only
 * the listener's thread uses it.
 */
private[latency] final class Admissions extends AdaptiveSparkPlanHelper {
  import Admissions._

  private val runs = mutable.Map.empty[String, Run].withDefaultValue(Run())

  /** A micro-batch was executed. Its query may be gone when its progress comes. */
  def executed(run: String, batch: IncrementalExecution, query: Option[StreamExecution]): Unit = {
    val files = collect(batch.executedPlan) {
      case scan: FileSourceScanExec if isOfStream(scan, batch) => scan.relation
    }
    val read = files.map(_.location).map(FilesRead.of)
    val known = runs(run)
    val limits = query.fold(known.limits)(limitsOf)
    val interval = query.map(_.trigger).fold(known.intervalMs) {
      case ProcessingTimeTrigger(ms) => Some(ms)
      case _ => None
    }
    runs(run) = known.copy(
      limits = limits,
      intervalMs = interval,
      read = BatchRead(read, tablesIn(batch)),
      isNewestFirst = files.exists(_.options.get("latestFirst").exists(_.toBoolean))
    )
  }

  /** A trigger of a run found nothing. Spark tells of one in ten seconds. */
  def foundNothing(run: String, startMs: Long): Unit = {
    val known = runs(run)
    if (known.before.isEmpty)
      runs(run) = known.copy(foundNothingMs = known.foundNothingMs.orElse(Some(startMs)))
  }

  /** This progress tells that a batch is over, or a trigger without one. What held back its records. */
  def ended(progress: StreamingQueryProgress): Admission = {
    val run = progress.runId.toString
    val known = runs(run)
    val told = new SparkProgress(progress)
    val keeping = known.limits.values.flatten.flatMap(_.keeping).maxByOption(_.mostMs)
    val last = known.before.map(last => if (foundNone(progress, known)) last.leavingNothing else last)
    val before = last.orElse(known.foundNothingMs.map(Trigger.ofNothing(_, keeping)))
    val limit = limitOf(progress, known)
    val trigger = Trigger(
      told.startMs,
      told.durationsMs.getOrElse(Phase.LatestOffset, 0L),
      told.tookMs.getOrElse(0L),
      limit.map { case (_, left) => left },
      known.intervalMs,
      cameMs = cameMs(progress, known),
      isNewestFirst = known.isNewestFirst,
      keeping = keeping,
      isAgain = !Looks.exists(told.durationsMs.contains)
    ).after(before)
    // Of the next trigger nothing is known yet: it may find no file.
    val unsure = limit.collect { case (source, left) if !left.isCertain => source }
    runs(run) = known.copy(read = BatchRead(), before = Some(trigger), unsure = unsure)
    trigger.admission(before)
  }

  private def tablesIn(batch: IncrementalExecution): Map[String, TableRead] = collect(batch.executedPlan) {
    case scan: MicroBatchScanExec =>
      scan.stream.toString -> TableRead(counted(scan, Files), counted(scan, Bytes))
  }.groupMapReduce { case (stream, _) => stream } { case (_, read) => read }(_ + _)

  private def counted(scan: MicroBatchScanExec, metric: String): Long =
    scan.metrics.get(metric).fold(0L)(_.value)

  /** By what sources say of themselves: one topic may be read twice, with another limit. */
  private def limitsOf(query: StreamExecution): Map[String, Seq[SourceLimit]] = {
    val names =
      StreamingQuerySources.relationsIn(query.logicalPlan).map(read => read.stream -> read.name).toMap
    ReadLimits.of(query).toSeq.map { case (source, limit) =>
      source.toString -> SourceLimit(limit, names.get(source).fold("")(RecordSource.kind))
    }.groupMap { case (source, _) => source } { case (_, limit) => limit }
  }

  def forget(run: String): Unit = { runs.remove(run); () }

  /** What left records behind, and at which source. One without such a limit reads all that there is. */
  private def limitOf(progress: StreamingQueryProgress, run: Run): Option[(String, Trigger.Limit)] = {
    val limits = for {
      source <- progress.sources.toSeq
      limit <- run.limits.getOrElse(source.description, Nil)
      left <- limit.leaving(source, run.read.of(source, progress))
    } yield source.description -> left
    limits.find { case (_, left) => left.isCertain }.orElse(limits.headOption)
  }

  /**
   * When the first of its files was changed last, by the clock of their file system: of the source of which the one before may have left
   * some.
   */
  private def cameMs(progress: StreamingQueryProgress, run: Run): Option[Long] = {
    val unsure = progress.sources.find(source => run.unsure.contains(source.description))
    unsure.fold(run.read)(run.read.of(_, progress)).scans.flatMap(_.changedMs).minOption
  }

  /** Whether a batch read nothing of the source of which the one before may have left some: then it had left none. */
  private def foundNone(progress: StreamingQueryProgress, run: Run): Boolean =
    run.unsure.exists(unsure =>
      progress.sources.filter(_.description == unsure)
        .forall(source => run.read.of(source, progress).hasNoneOf(source))
    )
}

private object Admissions {

  /** What Spark's progress says of asking sources how far they go: those of today, and those that cannot be limited. */
  val Looks = Seq(Phase.LatestOffset, "getOffset")

  /** In which tasks of Iceberg and of Paimon count the files that they read, or parts of very large ones. */
  val Files = "numSplits"

  /** In which tasks of Paimon count how large those are. */
  val Bytes = "splitSize"

  /**
   * @param foundNothingMs when a trigger before its first batch had found nothing
   * @param read          by the last batch
   * @param isNewestFirst whether a source reads files that came last before others
   * @param unsure        the source of which the last batch may have left some: it does not say so
   */
  final case class Run(
      before: Option[Trigger] = None,
      foundNothingMs: Option[Long] = None,
      limits: Map[String, Seq[SourceLimit]] = Map.empty,
      intervalMs: Option[Long] = None,
      read: BatchRead = BatchRead(),
      isNewestFirst: Boolean = false,
      unsure: Option[String] = None
  )
}
