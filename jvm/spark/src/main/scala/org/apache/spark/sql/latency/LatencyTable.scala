package org.apache.spark.sql.latency

import io.sparklatency.LatencyPath
import io.sparklatency.Metric
import io.sparklatency.NodeSnapshot
import io.sparklatency.NodeView
import io.sparklatency.QuerySnapshot
import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.types.ArrayType
import org.apache.spark.sql.types.BooleanType
import org.apache.spark.sql.types.DoubleType
import org.apache.spark.sql.types.LongType
import org.apache.spark.sql.types.StringType
import org.apache.spark.sql.types.StructField
import org.apache.spark.sql.types.StructType

/**
 * `e2e_latency()`: a row for each node of each query that this application knows, with the figures that the gauges have at the
 * moment when the statement is analyzed; own time and share are of the last batch that reached each node, if the query is silent.
 * Columns of figures have the names of the metrics, with `_` for `-`.
 */
private[latency] object LatencyTable {
  val name: FunctionIdentifier = FunctionIdentifier("e2e_latency")

  private val schema = StructType(
    Seq("query", "query_id", "run_id", "node").map(StructField(_, StringType)) ++ Seq(
      StructField("upstream", ArrayType(StringType, containsNull = false)),
      StructField("own", DoubleType),
      StructField("share", DoubleType),
      StructField("silent", BooleanType)
    ) ++ Metric.all.map(metric => StructField(metric.name.replace('-', '_'), typeOf(metric)))
  )

  def apply(arguments: Seq[Expression]): LogicalPlan = {
    if (arguments.nonEmpty) throw new IllegalArgumentException(
      s"e2e_latency(${arguments.map(_.sql).mkString(", ")}): it takes no arguments; select with WHERE query = '…'"
    )
    val tracker = LatencyTracker.of(SparkSession.active.sparkContext)
    tracker.settle()
    LocalRelation.fromExternalRows(DataTypeUtils.toAttributes(schema), tracker.snapshot().flatMap(rows))
  }

  private def rows(query: QuerySnapshot): Seq[Row] = {
    val path = new LatencyPath(query.latest)
    query.nodes.zip(path.nodes).map { case (node, record) =>
      val (own, share) = (path.own(record).map(Double.box).orNull, path.share(record).map(Double.box).orNull)
      val about =
        Seq[Any](query.name, query.id.orNull, query.runId.orNull, node.id, node.upstream, own, share)
      Row.fromSeq((about :+ query.isSilent) ++ Metric.all.map(metric => value(metric, node)))
    }
  }

  /** `null` where it is unknown, or of a measure that the node does not have. */
  private def value(metric: Metric, node: NodeView): Any =
    (metric.kind, NodeSnapshot.in(node.measures, metric.measure).flatMap(metric.read)) match {
      case (_, None) => null
      case (Metric.Counter, Some(count)) => count.toLong
      case (Metric.Gauge, Some(value)) => value
    }

  private def typeOf(metric: Metric) = metric.kind match {
    case Metric.Counter => LongType
    case Metric.Gauge => DoubleType
  }
}
