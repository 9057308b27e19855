package org.apache.spark.sql.latency.tracking

import java.util.UUID

import io.sparklatency.figures.SourceWatermark
import io.sparklatency.figures.WatermarkKind
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.latency.compat.EventTimeWatermarkExec
import org.apache.spark.sql.latency.compat.IncrementalExecution
import org.apache.spark.sql.latency.compat.watermarkId
import org.apache.spark.sql.latency.planning.CurrentQuery
import org.apache.spark.sql.latency.planning.StreamingQuerySources
import org.apache.spark.sql.latency.planning.SystemTimeQueries
import org.apache.spark.sql.latency.planning.SystemTimeWatermarkExec

/**
 * The watermarks of a query, one for each `withWatermark` in its plan. Spark itself tells only the one watermark that it
 * makes of them.
 *
 * Costs a walk over the executed plan for each batch. Without state; the listener's thread calls it when a micro-batch has
 * ended.
 */
private[latency] object SourceWatermarks extends AdaptiveSparkPlanHelper {

  /** The watermarks after an execution, if they were `before` ahead of it. */
  def after(execution: IncrementalExecution, before: Seq[SourceWatermark]): Seq[SourceWatermark] = {
    val session = execution.sparkSession
    val query = CurrentQuery.ran(execution)
    val sources = new StreamingQuerySources(query)
    val idle = query.fold(Map.empty[UUID, Long])(SystemTimeQueries.idleSince(_, execution.currentBatchId))
    val read = collect(execution.executedPlan) { case exec: EventTimeWatermarkExec => exec }
    val now = read.zipWithIndex.map { case (exec, i) =>
      val earlier = before.lift(i).filter(_.column == exec.eventTime.name)
      of(exec, sources, earlier, idle.get(watermarkId(exec)), execution.offsetSeqMetadata.batchWatermarkMs)
    }
    val policy = session.sessionState.conf.getConf(SQLConf.STREAMING_MULTIPLE_WATERMARK_POLICY)
    SourceWatermark.heldBack(now, policyIsMax = policy == "max")
  }

  /** When the records of an execution happened that its watermarks have seen, on average; none where they go by the clock. */
  def meanEventTimeMs(execution: IncrementalExecution): Option[Double] = {
    val seen = collect(execution.executedPlan) {
      case watermark: EventTimeWatermarkExec if !watermark.isInstanceOf[SystemTimeWatermarkExec] =>
        watermark.eventTimeStats.value
    }.filter(_.count > 0)
    Option.when(seen.nonEmpty)(seen.map(of => of.avg * of.count).sum / seen.map(_.count).sum)
  }

  private def of(
      watermark: EventTimeWatermarkExec,
      sources: StreamingQuerySources,
      earlier: Option[SourceWatermark],
      idleSinceMs: Option[Long],
      ofQueryMs: Long
  ): SourceWatermark = {
    val (kind, reached) = watermark match {
      case system: SystemTimeWatermarkExec => WatermarkKind.SystemTime -> system.systemTimeMs
      case _ =>
        val stats = watermark.eventTimeStats.value
        WatermarkKind.EventTime -> Option.when(stats.count > 0)(stats.max)
    }
    // An idle one has gone along with the others. When its source speaks again it holds them back from there on.
    val wentAlongMs = idleSinceMs.filter(_ => reached.nonEmpty && ofQueryMs > 0).map(_ => ofQueryMs)
    SourceWatermark(
      // Nobody can ask a query that has ended. Without data there may be an empty relation in place of the source.
      sources.nameBelow(watermark).orElse(earlier.map(_.source))
        .orElse(collectFirst(watermark.child)(Function.unlift(sources.of)).map(_.name)).getOrElse("unknown"),
      watermark.eventTime.name,
      watermark.delayMs,
      (earlier.flatMap(_.watermarkMs) ++ wentAlongMs).maxOption,
      holdsBack = false,
      kind,
      idleSinceMs.filter(_ => reached.isEmpty)
    ).advanced(reached)
  }
}
