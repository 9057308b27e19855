package org.apache.spark.sql.latency

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.annotation.JsonInclude
import io.sparklatency.figures.Batch
import io.sparklatency.figures.Held
import io.sparklatency.figures.Measure
import io.sparklatency.figures.NodeLatencies
import io.sparklatency.figures.NodeTimestamp
import io.sparklatency.figures.SourceWatermark
import io.sparklatency.figures.WatermarkKind
import io.sparklatency.recording.LatencySummary
import org.apache.spark.scheduler.SparkListenerEvent

/**
 * One batch of a query, as it goes over the listener bus and into the event log. It holds a [[Batch]] in types that Jackson
 * reads as it wrote them. (Jackson does not know what a Scala collection holds: a Long in one comes back as an Integer.)
 *
 * '''This class never moves and never changes its name.''' Its full name stands in every event log, and Spark finds the class
 * by it. Under another name Spark would drop the batches of all logs written until then as events that nobody knows.
 *
 * A batch is one event, from about 80 bytes for each node and measure; more if latencies are widely spread. The thread of our
 * listener queue posts it. Threads of other listeners read it, so nobody may change its arrays.
 *
 * @param version what the rest means: see [[EventVersion]]
 * @param noWatermark true where nothing in the batch goes by the watermark, else null
 * @param tasksFailed null where none has
 * @param windows null where the query runs in batches
 */
final case class SparkListenerLatencyBatch(
    version: Int,
    query: String,
    queryId: String,
    runId: String,
    batch: Long,
    startMs: Long,
    committedMs: Long,
    inputRows: Long,
    durationsMs: java.util.Map[String, java.lang.Long],
    watermarkMs: java.lang.Long,
    watermarks: Array[StoredWatermark],
    droppedLate: Long,
    nodes: Array[StoredNode],
    folded: Int = 0,
    @JsonInclude(JsonInclude.Include.NON_NULL) times: StoredTimes = null,
    @JsonInclude(JsonInclude.Include.NON_NULL) admission: StoredAdmission = null,
    @JsonInclude(JsonInclude.Include.NON_NULL) parts: StoredParts = null,
    @JsonInclude(JsonInclude.Include.NON_NULL) execution: java.lang.Long = null,
    @JsonInclude(JsonInclude.Include.NON_NULL) outOfOrder: Array[Byte] = null,
    @JsonInclude(JsonInclude.Include.NON_NULL) markers: StoredMarkers = null,
    @JsonInclude(JsonInclude.Include.NON_NULL) before: StoredFilling = null,
    @JsonInclude(JsonInclude.Include.NON_NULL) noWatermark: java.lang.Boolean = null,
    @JsonInclude(JsonInclude.Include.NON_NULL) cameIn: StoredFilling = null,
    @JsonInclude(JsonInclude.Include.NON_NULL) tasksFailed: java.lang.Long = null,
    @JsonInclude(JsonInclude.Include.NON_NULL) windows: StoredWindows = null
) extends SparkListenerEvent {

  /** The batch. A version that this sparklatency does not know is a `NewerFormatException`. Decodes each node's summaries. */
  def record: Batch = {
    EventVersion.requireKnown(version)
    Batch(
      query,
      Option(queryId),
      Option(runId),
      batch,
      startMs,
      committedMs,
      inputRows,
      durations,
      Option(watermarkMs).map(_.toLong),
      Option(watermarks).toSeq.flatten.map(_.watermark),
      droppedLate,
      Option(nodes).toSeq.flatten.map(_.node),
      folded,
      Option(times).map(_.times(batch)),
      Option(admission).map(_.admission),
      Option(parts).map(_.parts),
      Option(execution).map(_.toLong),
      Option(outOfOrder).map(LatencySummary.fromBytes(_)),
      Option(markers).map(_.markers),
      Option(before).flatMap(_.filling),
      usesWatermark = noWatermark == null,
      Option(cameIn).flatMap(_.filling),
      Option(tasksFailed).fold(0L)(_.toLong),
      Option(windows).map(_.windows)
    )
  }

  private[latency] def durations: Map[String, Long] =
    Option(durationsMs).fold(Map.empty[String, Long])(_.asScala.view.mapValues(_.toLong).toMap)

  /** The same with what a line about it needs: the nodes that records left last, and its own figures. */
  def atEnd: SparkListenerLatencyBatch = {
    val known = Option(nodes).getOrElse(Array.empty)
    val passedOn = known.flatMap(_.upstream).toSet
    copy(
      nodes = known.filterNot(node => passedOn(node.id)),
      times = null,
      admission = null,
      parts = null,
      outOfOrder = null,
      markers = null,
      before = null,
      cameIn = null,
      windows = null
    )
  }
}

/** Writes a batch as an event. Costs an encoding for each node and measure, in the thread of our listener queue. */
object SparkListenerLatencyBatch {
  def apply(record: Batch): SparkListenerLatencyBatch = SparkListenerLatencyBatch(
    EventVersion.Newest,
    record.query,
    record.queryId.orNull,
    record.runId.orNull,
    record.batch,
    record.startMs,
    record.committedMs,
    record.inputRows,
    record.durationsMs.view.mapValues(Long.box).toMap.asJava,
    record.watermarkMs.map(Long.box).orNull,
    record.watermarks.map(StoredWatermark(_)).toArray,
    record.droppedLate,
    record.nodes.map(StoredNode(_)).toArray,
    record.folded,
    record.times.map(StoredTimes(_)).orNull,
    record.admission.map(StoredAdmission(_)).orNull,
    record.parts.map(StoredParts(_)).orNull,
    record.execution.map(Long.box).orNull,
    record.outOfOrder.map(_.toBytes).orNull,
    record.markers.map(StoredMarkers(_)).orNull,
    record.before.map(StoredFilling(_)).orNull,
    if (record.usesWatermark) null else Boolean.box(true),
    record.cameIn.map(StoredFilling(_)).orNull,
    Option.when(record.tasksFailed > 0)(Long.box(record.tasksFailed)).orNull,
    record.windows.map(StoredWindows(_)).orNull
  )
}

/** A [[SourceWatermark]] in an event: two names and a few numbers. Immutable. Its field names stand in event logs. */
final case class StoredWatermark(
    source: String,
    column: String,
    delayMs: Long,
    watermarkMs: java.lang.Long,
    holdsBack: Boolean,
    @JsonInclude(JsonInclude.Include.NON_NULL) kind: String,
    @JsonInclude(JsonInclude.Include.NON_NULL) idleSinceMs: java.lang.Long = null
) {
  def watermark: SourceWatermark =
    SourceWatermark(
      source,
      column,
      delayMs,
      Option(watermarkMs).map(_.toLong),
      holdsBack,
      WatermarkKind.of(kind),
      Option(idleSinceMs).map(_.toLong)
    )
}

/** Writes a watermark as an event has it. */
object StoredWatermark {
  def apply(watermark: SourceWatermark): StoredWatermark = StoredWatermark(
    watermark.source,
    watermark.column,
    watermark.delayMs,
    watermark.watermarkMs.map(Long.box).orNull,
    watermark.holdsBack,
    // Nothing where it is of the kind that all were of before there was another.
    Option(watermark.kind).filter(_ != WatermarkKind.EventTime).map(_.name).orNull,
    watermark.idleSinceMs.map(Long.box).orNull
  )
}

/**
 * The figures of a node in an event, or in Spark's store. Its field names stand in event logs. [[node]] decodes the summaries
 * at each call. A measure that this sparklatency does not know is skipped. Nobody may change its arrays: several threads read
 * it.
 *
 * @param measures by name, each a summary as [[LatencySummary.toBytes]] writes it
 * @param held     true where its records come from an operator that may hold them, else null
 * @param windowMs of that operator's windows of time, where it has such
 * @param gapMs    of its sessions, where it has such of one gap
 * @param laterMs  how much later its watermark passes a time than one before it, else null
 * @param eachBatch true where it gives out with each batch what there is so far, else null
 * @param until    what records wait for there, by name; null where that is the watermark
 * @param another  true where the nodes before it go by another timestamp, else null
 */
final case class StoredNode(
    id: String,
    upstream: Array[String],
    measures: java.util.Map[String, Array[Byte]],
    @JsonInclude(JsonInclude.Include.NON_NULL) timestamp: String = null,
    @JsonInclude(JsonInclude.Include.NON_NULL) held: java.lang.Boolean = null,
    @JsonInclude(JsonInclude.Include.NON_NULL) windowMs: java.lang.Long = null,
    @JsonInclude(JsonInclude.Include.NON_NULL) gapMs: java.lang.Long = null,
    @JsonInclude(JsonInclude.Include.NON_NULL) eachBatch: java.lang.Boolean = null,
    @JsonInclude(JsonInclude.Include.NON_NULL) laterMs: java.lang.Long = null,
    @JsonInclude(JsonInclude.Include.NON_NULL) until: String = null,
    @JsonInclude(JsonInclude.Include.NON_NULL) another: java.lang.Boolean = null
) {
  def node: NodeLatencies = NodeLatencies(
    id,
    upstream.toSeq,
    Measure.all.flatMap(m => Option(measures.get(m.name)).map(m -> LatencySummary.fromBytes(_))).toMap,
    Option(timestamp).map(NodeTimestamp(_, isAnother = another != null)),
    held = Option(held).map(_ =>
      Held(
        Option(windowMs).map(_.toLong),
        Option(gapMs).map(_.toLong),
        Option(laterMs).fold(0L)(_.toLong),
        eachBatch = eachBatch != null,
        Held.all.find(_.name == until).getOrElse(Held.Watermark)
      )
    )
  )

  /** One measure alone; without records where the node has none of it. */
  def apply(measure: Measure): LatencySummary =
    Option(measures.get(measure.name)).fold(LatencySummary.empty)(LatencySummary.fromBytes(_))
}

/** Writes a node as an event has it. */
object StoredNode {
  def apply(node: NodeLatencies): StoredNode = StoredNode(
    node.id,
    node.upstream.toArray,
    node.measures.map { case (measure, summary) => measure.name -> summary.toBytes }.asJava,
    node.timestamp.map(_.column).orNull,
    node.held.map(_ => Boolean.box(true)).orNull,
    node.held.flatMap(_.windowMs).map(Long.box).orNull,
    node.held.flatMap(_.gapMs).map(Long.box).orNull,
    node.held.filter(_.eachBatch).map(_ => Boolean.box(true)).orNull,
    node.held.map(_.laterMs).filter(_ > 0).map(Long.box).orNull,
    node.held.map(_.until).filter(_ != Held.Watermark).map(_.name).orNull,
    if (node.goesByAnother) Boolean.box(true) else null
  )
}
