package org.apache.spark.sql.latency

import io.sparklatency.SourceWatermark
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.streaming.operators.stateful.EventTimeWatermarkExec
import org.apache.spark.sql.execution.streaming.runtime.IncrementalExecution
import org.apache.spark.sql.internal.SQLConf

/** The watermarks of a query, one for each `withWatermark` in its plan. Spark tells only the one that it makes of them. */
private[latency] object StreamWatermarks extends AdaptiveSparkPlanHelper {
  private val Unknown = "unknown"

  /** As they are after an execution, when they were `before` before it. */
  def after(execution: IncrementalExecution, before: Seq[SourceWatermark]): Seq[SourceWatermark] = {
    val session = execution.sparkSession
    val sources = new StreamingSources(Planning.active(session, execution.queryId))
    val read = collect(execution.executedPlan) { case exec: EventTimeWatermarkExec => of(exec, sources) }
    val now = read.zipWithIndex.map { case (watermark, i) =>
      val earlier = before.lift(i).filter(_.column == watermark.column)
      watermark.copy(
        // Without data there may be an empty relation in place of the source.
        source = if (watermark.source == Unknown) earlier.fold(Unknown)(_.source) else watermark.source,
        // Like Spark's own, it never goes back.
        watermarkMs = (earlier.flatMap(_.watermarkMs) ++ watermark.watermarkMs).maxOption
      )
    }
    // Spark takes one that has seen nothing yet for the least of all.
    val times = now.map(_.watermarkMs.getOrElse(0L))
    val policy = session.sessionState.conf.getConf(SQLConf.STREAMING_MULTIPLE_WATERMARK_POLICY)
    val holder = if (policy == "max") times.maxOption else times.minOption
    now.zip(times).map { case (watermark, time) => watermark.copy(holdsBack = holder.contains(time)) }
  }

  private def of(watermark: EventTimeWatermarkExec, sources: StreamingSources): SourceWatermark = {
    val source = collectFirst(watermark.child)(Function.unlift(sources.of))
    val stats = watermark.eventTimeStats.value
    SourceWatermark(
      source.fold(Unknown)(_.name),
      watermark.eventTime.name,
      watermark.delayMs,
      Option.when(stats.count > 0)(stats.max - watermark.delayMs),
      holdsBack = false
    )
  }
}
