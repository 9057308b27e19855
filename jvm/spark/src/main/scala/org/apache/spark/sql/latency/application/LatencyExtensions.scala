package org.apache.spark.sql.latency.application

import io.sparklatency.spark.base.Version
import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.SparkSessionExtensionsProvider
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.ExpressionInfo
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.latency.compat.SessionExtensions
import org.apache.spark.sql.latency.compat.SparkSession
import org.apache.spark.sql.latency.marking.IngestionTime
import org.apache.spark.sql.latency.marking.LatencyHint
import org.apache.spark.sql.latency.marking.NodeIds
import org.apache.spark.sql.latency.planning.AcrossShuffles
import org.apache.spark.sql.latency.planning.AcrossSinkShuffles
import org.apache.spark.sql.latency.planning.AutomaticNodes
import org.apache.spark.sql.latency.planning.FirstRowsStrategy
import org.apache.spark.sql.latency.planning.IngestionStampStrategy
import org.apache.spark.sql.latency.planning.IngestionStamps
import org.apache.spark.sql.latency.planning.KeepTimestamps
import org.apache.spark.sql.latency.planning.LatencyMarkStrategy
import org.apache.spark.sql.latency.planning.LeftOutStamps
import org.apache.spark.sql.latency.planning.MarksAsOperators
import org.apache.spark.sql.latency.planning.StampsAtSources
import org.apache.spark.sql.latency.planning.TerminalNodes
import org.apache.spark.sql.latency.planning.UnrecordedMarks
import org.apache.spark.sql.latency.planning.UnrepeatableStamps
import org.apache.spark.sql.latency.sql.LatencyTable
import org.apache.spark.sql.latency.tracking.PlannedPath

/**
 * What a session gains:
 *   - the hint `E2E_LATENCY('node' [, timestamp [, level]])`, where a NULL timestamp is the watermarked column
 *   - the hint `SYSTEM_TIME_WATERMARK('column', 'lag')`, a watermark that goes by the clock
 *   - the hint `IDLE_TIMEOUT('timeout')`, and the setting of that name: watermarks that no longer wait for an idle source
 *   - the plan of a mark, and the check that node ids are unique
 *   - automatic nodes
 *   - `ingestion_time()`, the time at which a record is read
 *   - the table `e2e_latency()` of figures
 *   - `e2e_latency_version()`, by which a client finds out that all this is there
 *
 * Every session whose class path has the jar finds it through `META-INF/services`, so it needs no configuration. On Spark
 * 3.5 one that Python makes does not: there the plugin names it. Spark calls it in the thread that makes the session. A query
 * without a mark and without automatic nodes then costs a few walks over its plan, in the thread that analyzes and plans it,
 * and nothing per record.
 */
final class LatencyExtensions extends SparkSessionExtensionsProvider {
  import LatencyExtensions._

  override def apply(extensions: SparkSessionExtensions): Unit = {
    Version.requireFit()
    if (SessionExtensions.isNew(extensions)) addTo(extensions)
  }

  private def addTo(extensions: SparkSessionExtensions): Unit = {
    extensions.injectResolutionRule(ofSession(LatencyHint(_)))
    extensions.injectPostHocResolutionRule(ofSession(KeepTimestamps(_)))
    extensions.injectCheckRule(_ => NodeIds.Unique)
    extensions.injectOptimizerRule(ofSession(UnrecordedMarks(_, LatencyApplication)))
    extensions.injectOptimizerRule(_ => IngestionStamps)
    extensions.injectPreCBORule(ofSession(AcrossShuffles(_, LatencyApplication)))
    extensions.injectPlannerStrategy(
      ofSession(session => AcrossSinkShuffles(AcrossShuffles(session, LatencyApplication)))
    )
    val marks = LatencyMarkStrategy(LatencyApplication)
    extensions.injectPlannerStrategy(_ => marks)
    extensions.injectPlannerStrategy(_ => FirstRowsStrategy(marks))
    extensions.injectPlannerStrategy(_ => IngestionStampStrategy)
    extensions.injectColumnar(ofSession(MarksAsOperators(_)))
    extensions.injectColumnar(_ => StampsAtSources) // before nodes are placed above them
    extensions.injectColumnar(ofSession(LeftOutStamps(_, LatencyApplication)))
    WatermarkRules.addTo(extensions)
    extensions.injectColumnar(ofSession(AutomaticNodes(_, LatencyApplication)))
    extensions.injectColumnar(ofSession(TerminalNodes(_)))
    extensions.injectColumnar(ofSession(PlannedPath(_, LatencyApplication)))
    extensions.injectColumnar(ofSession(UnrepeatableStamps(_)))
    extensions.injectFunction((
      FunctionIdentifier("e2e_latency_version"),
      new ExpressionInfo(classOf[LatencyExtensions].getName, "e2e_latency_version"),
      (_: Seq[Expression]) => Literal(Version.current)
    ))
    extensions.injectFunction((
      FunctionIdentifier(IngestionTime.Name),
      new ExpressionInfo(classOf[IngestionTime].getName, IngestionTime.Name),
      IngestionTime.of
    ))
    extensions.injectTableFunction((
      LatencyTable.name,
      new ExpressionInfo(LatencyTable.getClass.getName, LatencyTable.name.funcName),
      LatencyTable(() => LatencyApplication.running(SparkSession.active.sparkContext).settledStore())
    ))
  }
}

private[application] object LatencyExtensions {

  /** What is made for a session. Spark 4 hands it over by a type that those of Spark Connect have too. */
  def ofSession[Made](make: SparkSession => Made): Any => Made =
    session => make(session.asInstanceOf[SparkSession])
}
