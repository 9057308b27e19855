package org.apache.spark.sql.latency.sql

import io.sparklatency.answer.QueryAnswer
import io.sparklatency.figures.MeasureSnapshot
import io.sparklatency.figures.Metric
import io.sparklatency.figures.NodeSnapshot
import io.sparklatency.figures.QuerySnapshot
import io.sparklatency.figures.SourceWatermark
import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.latency.history.LatencyStore
import org.apache.spark.sql.types.ArrayType
import org.apache.spark.sql.types.BooleanType
import org.apache.spark.sql.types.DoubleType
import org.apache.spark.sql.types.LongType
import org.apache.spark.sql.types.StringType
import org.apache.spark.sql.types.StructField
import org.apache.spark.sql.types.StructType

/**
 * `e2e_latency()`: a row for each node of each query, with the figures that the gauges have when the statement is analyzed; one
 * without a node for a query that has none. Of a silent query, own time and share are those of the last batch that reached each
 * node. What is of the query is the same on each of its rows. Columns of figures have the names of the metrics, with `_` for `-`.
 *
 * Costs one reading of all queries, after at most a second's wait for executions that have just ended. The rows are made on
 * the driver: running the statement reads nothing more. Runs in the thread that analyzes the statement.
 */
private[latency] object LatencyTable {
  val name: FunctionIdentifier = FunctionIdentifier("e2e_latency")

  private val part = new StructType().add("part", StringType).add("ms", DoubleType).add("share", DoubleType)

  private val watermark = new StructType().add("source", StringType).add("column", StringType)
    .add("kind", StringType).add("delay", LongType).add("watermark", LongType).add("lag", LongType)
    .add("idle", LongType).add("holds_back", BooleanType)

  private val schema = StructType(
    Seq("query", "query_id", "run_id", "node").map(StructField(_, StringType)) ++ Seq(
      StructField("upstream", ArrayType(StringType, containsNull = false)),
      StructField("own", DoubleType),
      StructField("share", DoubleType),
      StructField("timestamp", StringType),
      StructField("silent", BooleanType),
      StructField("headline", StringType),
      StructField("parts", ArrayType(part, containsNull = false)),
      StructField("notes", ArrayType(StringType, containsNull = false)),
      StructField("operators", StringType),
      StructField("status", StringType),
      StructField("cause", StringType),
      StructField("progress", StringType)
    ) ++ Metric.ofQueries.map(metric => StructField(column(metric.name), LongType)) ++
      Metric.all.map(metric => StructField(column(metric.name), typeOf(metric))) ++
      Metric.ofOperators.map(metric => StructField(column(metric.name), DoubleType)) :+
      StructField("watermarks", ArrayType(watermark, containsNull = false))
  )

  /** @param read what is known when the statement is analyzed */
  def apply(read: () => LatencyStore)(arguments: Seq[Expression]): LogicalPlan = {
    if (arguments.nonEmpty) throw new IllegalArgumentException(
      s"e2e_latency(${arguments.map(_.sql).mkString(", ")}): it takes no arguments; select with WHERE query = '…'"
    )
    val store = read()
    val answers = store.queries.map(store.answer)
    LocalRelation.fromExternalRows(DataTypeUtils.toAttributes(schema), answers.flatMap(rows))
  }

  private def rows(answer: QueryAnswer): Seq[Row] = {
    val query = answer.query
    val parts = answer.parts.of.map(part => Row(part.name, part.ms, part.share))
    val ofQuery = Seq[Any](
      query.isSilent,
      answer.headline.text,
      parts,
      answer.notes.map(_.text),
      answer.work.map(_.text).orNull,
      answer.status.map(_.name).orNull,
      answer.headline.code.name,
      answer.progress.text.orNull
    ) ++ Metric.ofQueries.map(_.read(query).map(Long.box).orNull)
    val ids = Seq[Any](query.name, query.id.orNull, query.runId.orNull)
    val ofNodes = query.nodes.zip(answer.path.nodes).map { case (node, record) =>
      val own = answer.path.own(record).map(Double.box).orNull
      val share = answer.path.share(record).map(Double.box).orNull
      ids ++ Seq[Any](node.id, node.upstream, own, share, node.timestamp.map(_.column).orNull) ++ ofQuery ++
        Metric.all.map(value(_, node)) ++ Metric.ofOperators.map(_.read(node.operator).map(Double.box).orNull)
    }
    val watermarks = query.watermarks.map(row(query, _))
    val rows =
      if (ofNodes.isEmpty) Seq((ids ++ Seq.fill(5)(null) ++ ofQuery).padTo(schema.size - 1, null))
      else ofNodes
    rows.map(row => Row.fromSeq(row :+ watermarks))
  }

  private def row(query: QuerySnapshot, of: SourceWatermark): Row = Row(
    of.source,
    of.column,
    of.kind.name,
    of.delayMs,
    of.watermarkMs.map(Long.box).orNull,
    query.watermarkLagMs(of).map(Long.box).orNull,
    query.idleMs(of).map(Long.box).orNull,
    of.holdsBack
  )

  private def column(metric: String): String = metric.replace('-', '_')

  /** `null` where the value is unknown, and where the node does not have the measure. */
  private def value(metric: Metric, node: NodeSnapshot): Any =
    MeasureSnapshot.in(node.measures, metric.measure).flatMap(metric.read).map(metric.typed).orNull

  private def typeOf(metric: Metric) = metric.kind match {
    case Metric.Counter => LongType
    case Metric.Gauge => DoubleType
  }
}
