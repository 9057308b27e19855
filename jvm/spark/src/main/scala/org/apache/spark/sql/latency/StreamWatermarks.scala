package org.apache.spark.sql.latency

import io.sparklatency.SourceWatermark
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.streaming.operators.stateful.EventTimeWatermarkExec
import org.apache.spark.sql.execution.streaming.runtime.IncrementalExecution
import org.apache.spark.sql.internal.SQLConf

/** The watermarks of a query, one for each `withWatermark` in its plan. Spark tells only the one that it makes of them. */
private[latency] object StreamWatermarks extends AdaptiveSparkPlanHelper {

  /** As they are after an execution, when they were `before` before it. */
  def after(execution: IncrementalExecution, before: Seq[SourceWatermark]): Seq[SourceWatermark] = {
    val session = execution.sparkSession
    val sources = new StreamingSources(Planning.active(session, execution.queryId))
    val read = collect(execution.executedPlan) { case exec: EventTimeWatermarkExec => exec }
    val now = read.zipWithIndex.map { case (exec, i) =>
      of(exec, sources, before.lift(i).filter(_.column == exec.eventTime.name))
    }
    // Spark takes one that has seen nothing yet for the least of all.
    val times = now.map(_.watermarkMs.getOrElse(0L))
    val policy = session.sessionState.conf.getConf(SQLConf.STREAMING_MULTIPLE_WATERMARK_POLICY)
    val holder = if (policy == "max") times.maxOption else times.minOption
    now.zip(times).map { case (watermark, time) => watermark.copy(holdsBack = holder.contains(time)) }
  }

  private def of(
      watermark: EventTimeWatermarkExec,
      sources: StreamingSources,
      earlier: Option[SourceWatermark]
  ): SourceWatermark = {
    val source = collectFirst(watermark.child)(Function.unlift(sources.of)).map(_.name)
    val stats = watermark.eventTimeStats.value
    val seen = Option.when(stats.count > 0)(stats.max - watermark.delayMs)
    SourceWatermark(
      // Without data there may be an empty relation in place of the source.
      source.orElse(earlier.map(_.source)).getOrElse("unknown"),
      watermark.eventTime.name,
      watermark.delayMs,
      // Like Spark's own, it never goes back.
      (earlier.flatMap(_.watermarkMs) ++ seen).maxOption,
      holdsBack = false
    )
  }
}
