package io.sparklatency.spark

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.ObjectNode
import io.sparklatency.answer.Cause
import io.sparklatency.answer.ClockNote
import io.sparklatency.answer.EarlierRun
import io.sparklatency.answer.QueryAnswer
import io.sparklatency.answer.Work
import io.sparklatency.figures.Batch
import io.sparklatency.figures.ExecutorClock
import io.sparklatency.figures.Measure
import io.sparklatency.figures.MeasureSnapshot
import io.sparklatency.figures.Metric
import io.sparklatency.figures.NodeLatencies
import io.sparklatency.figures.NodeSnapshot
import io.sparklatency.figures.SourceWatermark
import io.sparklatency.path.LatencyPath
import io.sparklatency.path.LatencySplit
import io.sparklatency.path.ProcessingDelay
import io.sparklatency.recording.LatencySummary
import org.apache.spark.sql.latency.history.LatencyStore

/**
 * Figures as JSON: latencies in milliseconds, times in milliseconds since the epoch, `null` where unknown. REST and Python
 * give the same document.
 *
 * Costs a few percentiles for each node, and a document that grows with nodes and batches. Without state, for any thread: it
 * writes values that no longer change.
 */
object LatencyJson {
  import JsonFields._

  private val mapper = new ObjectMapper

  /** All queries under `queries`, their earlier runs under `earlierRuns`, and the executors' clocks under `clocks`. */
  def all(store: LatencyStore): ObjectNode = {
    val runs = store.all
    val root = queries(runs.queries.map(store.answer), runs.earlier)
    putEach(root, "clocks", store.clocks)(putClock)
    root
  }

  /** The partitions of a node, in the last batch that had records. */
  def partitions(answer: QueryAnswer, node: String): ObjectNode = WorkJson.partitions(answer.work, node)

  private[spark] def empty: ObjectNode = mapper.createObjectNode()

  /** The same of one run. */
  def one(answer: QueryAnswer): ObjectNode = queries(Seq(answer), Nil)

  private def queries(answers: Seq[QueryAnswer], earlier: Seq[EarlierRun]): ObjectNode = {
    val root = mapper.createObjectNode()
    putEach(root, "queries", answers)(putAnswer)
    putEach(root, "earlierRuns", earlier)(putRun)
    root
  }

  /** Batches of one run of a query, under `batches`. */
  def history(batches: Seq[Batch]): ObjectNode = {
    val root = mapper.createObjectNode()
    putEach(root, "batches", batches)(putBatch)
    root
  }

  private def putClock(json: ObjectNode, clock: ExecutorClock): Unit = {
    json.put("executor", clock.executor)
    Metric.ofClocks.foreach(metric => json.put(metric.field, metric.ms(clock.offset)))
    json.put("text", Option.when(ClockNote.isOff(clock))(ClockNote.text(clock)).orNull)
    ()
  }

  private def putRun(json: ObjectNode, run: EarlierRun): Unit = {
    json.put("query", run.query).put("id", run.id.orNull).put("run", run.runId.orNull)
      .put(
        "status",
        run.status.map(_.name).orNull
      ).put("batches", run.batches).put("committed", run.committedMs)
    ()
  }

  private def putAnswer(json: ObjectNode, answer: QueryAnswer): Unit = {
    val (query, path) = (answer.query, answer.path)
    json.put("query", query.name).put("id", query.id.orNull).put("run", query.runId.orNull)
      .put(
        "status",
        answer.status.map(_.name).orNull
      ).put("batches", query.batches).put("folded", query.folded)
    putLong(json, "oldestUncommitted", query.oldestUncommittedMs)
    json.put("silent", query.isSilent)
    AnswerJson.put(json, answer)
    WorkJson.put(json, "operators", answer.work)
    WorkJson.put(json, "operatorsSoFar", answer.workSoFar)
    MarkersJson.put(json, query.markers)
    json.put("slowestStep", answer.slowestStep.orNull)
    putPath(json, path, answer.split)
    putEach(json, "nodes", query.nodes.zip(path.nodes)) { case (one, (node, record)) =>
      putNode(one, record, path)
      putMeasures(one, node.measures)
      WorkJson.put(one, node.operator)
      one.put("quiet", node.isQuiet)
      putLong(one, "batchCommitted", node.batchMs)
      putMeasure(one.putObject("batch"), Measure.E2ELatency, MeasureSnapshot.of(node.lastLatency))
      val delays = one.putObject("delays")
      query.upstreamOf(node).foreach { other =>
        val delay = delays.putObject(other.id)
        putDelay(delay.putObject("window"), ProcessingDelay.between(windowOf(other), windowOf(node)))
        putDelay(delay.putObject("batch"), ProcessingDelay.between(other.lastLatency, node.lastLatency))
      }
    }
    query.lastBatch match {
      case Some(batch) => putBatch(json.putObject("lastBatch"), batch)
      case None => json.putNull("lastBatch")
    }
  }

  private def putBatch(json: ObjectNode, batch: Batch): Unit = {
    json.put("batch", batch.batch).put("start", batch.startMs).put("committed", batch.committedMs)
      .put("inputRows", batch.inputRows).put("droppedLate", batch.droppedLate)
      .put("tasksFailed", batch.tasksFailed)
    putLong(json, "watermark", batch.watermarkMs)
    putLong(json, "watermarkLag", batch.watermarkLagMs)
    putEach(json, "watermarks", batch.watermarks)(putWatermark(_, batch, _))
    val durations = json.putObject("durations")
    batch.durationsMs.toSeq.sorted.foreach { case (name, ms) => durations.put(name, ms) }
    val path = new LatencyPath(batch.nodes)
    json.put("slowestStep", Cause.slowestStep(Cause.of(batch, path), path).orNull)
    putPath(json, path, path.split)
    WorkJson.put(json, "operators", batch.times.map(Work.of(_, Some(batch.committedMs))))
    MarkersJson.putOfBatch(json, batch.markers)
    putEach(json, "nodes", batch.nodes) { (one, node) =>
      putNode(one, node, path)
      putMeasures(
        one,
        node.measures.map { case (measure, summary) => measure -> MeasureSnapshot.of(summary) }
      )
    }
  }

  private def putWatermark(json: ObjectNode, batch: Batch, watermark: SourceWatermark): Unit = {
    json.put("source", watermark.source).put("column", watermark.column).put("delay", watermark.delayMs)
      .put("holdsBack", watermark.holdsBack).put("kind", watermark.kind.name)
    putLong(json, "watermark", watermark.watermarkMs)
    putLong(json, "lag", batch.watermarkLagMs(watermark))
    putLong(json, "idleSince", watermark.idleSinceMs)
  }

  private def putPath(json: ObjectNode, path: LatencyPath, split: LatencySplit): Unit = {
    putNames(json, "criticalPath", path.critical)
    putSplit(json.putObject("split"), split)
  }

  private def putSplit(json: ObjectNode, split: LatencySplit): Unit = {
    putAges(json, "queuing", split.queuing)
    Seq("processing" -> split.processing, "commit" -> split.commit).foreach {
      case (part, Some(delay)) => putDelay(json.putObject(part), delay)
      case (part, None) => json.putNull(part)
    }
    putAges(json, "total", split.committed)
  }

  private def putNode(json: ObjectNode, node: NodeLatencies, path: LatencyPath): Unit = {
    json.put("node", node.id)
    putNames(json, "upstream", node.upstream)
    json.put("timestamp", node.timestamp.map(_.column).orNull)
    putDouble(json, "own", path.own(node))
    putDouble(json, "share", path.share(node))
  }

  private def putAges(json: ObjectNode, field: String, ages: LatencySummary): Unit =
    if (ages.count == 0) json.putNull(field)
    else putStatistics(
      json.putObject(field),
      ages.min,
      ages.avg,
      ages.percentile(50),
      ages.percentile(99),
      ages.max
    )

  private def putDelay(json: ObjectNode, delay: ProcessingDelay): Unit = {
    json.put("sameRecords", delay.sameRecords)
    putStatistics(json, delay.min, delay.avg, delay.p50, delay.p99, delay.max)
  }

  private def putStatistics(
      json: ObjectNode,
      min: Option[Long],
      avg: Option[Double],
      p50: Option[Long],
      p99: Option[Long],
      max: Option[Long]
  ): Unit = {
    putLong(json, "min", min)
    putDouble(json, "avg", avg)
    putLong(json, "p50", p50)
    putLong(json, "p99", p99)
    putLong(json, "max", max)
  }

  /** The e2e latency's figures beside the node's id, those of other measures in objects of their own. */
  private def putMeasures(json: ObjectNode, measures: Map[Measure, MeasureSnapshot]): Unit =
    Measure.all.foreach { measure =>
      MeasureSnapshot.in(measures, measure) match {
        case None => json.putNull(measure.field)
        case Some(figures) =>
          putMeasure(
            if (measure == Measure.E2ELatency) json else json.putObject(measure.field),
            measure,
            figures
          )
      }
    }

  private def putMeasure(json: ObjectNode, measure: Measure, figures: MeasureSnapshot): Unit =
    putMetrics(json, Metric.of(measure), figures)

  private[spark] def putMetrics(json: ObjectNode, metrics: Seq[Metric], figures: MeasureSnapshot): Unit =
    metrics.foreach { metric =>
      metric.read(figures) match {
        case None => json.putNull(metric.field)
        case Some(value) => putFigure(json, metric.field, value)
      }
    }

  private def windowOf(node: NodeSnapshot): LatencySummary =
    node.measures.get(Measure.E2ELatency).fold(LatencySummary.empty)(_.window)
}
