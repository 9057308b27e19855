package org.apache.spark.sql.latency.tracking

import io.sparklatency.figures.Admission
import io.sparklatency.figures.Trigger
import org.apache.spark.sql.connector.read.streaming.CompositeReadLimit
import org.apache.spark.sql.connector.read.streaming.ReadLimit
import org.apache.spark.sql.connector.read.streaming.ReadMaxFiles
import org.apache.spark.sql.connector.read.streaming.ReadMaxRows
import org.apache.spark.sql.connector.read.streaming.ReadMinRows
import org.apache.spark.sql.latency.compat.PythonReadLimit
import org.apache.spark.sql.latency.compat.ReadMaxBytes
import org.apache.spark.sql.latency.planning.RecordSource
import org.apache.spark.sql.streaming.SourceProgress

/**
 * How much a source may read at once. Immutable, for any thread.
 *
 * @param kind of the source: see [[RecordSource.kind]]
 */
private[tracking] final case class SourceLimit(limit: ReadLimit, kind: String) {
  import SourceLimit._

  private val parts = partsOf(limit)

  /** What keeps records until there are so many. A reader in Python does not tell for how long it may. */
  def keeping: Option[Trigger.Keeping] = parts.collect {
    case fewest: ReadMinRows => Trigger.Keeping(Admission.MinOffsets, fewest.maxTriggerDelayMs)
    case PythonReadLimit(Admission.MinRows) => Trigger.Keeping(Admission.MinRows, Long.MaxValue)
  }.maxByOption(_.mostMs)

  /** What left records behind, if anything did. */
  def leaving(source: SourceProgress, read: BatchRead): Option[Trigger.Limit] = {
    val isBehind = source.latestOffset != null && source.latestOffset != source.endOffset
    val of = Tables.get(kind).fold(any(source, isBehind, read) _)(ofTable(_, source, read))
    // Not by the records: offsets of Kafka have holes, and a batch may go on through one.
    val kept = keeping.filter(_ => isBehind && source.startOffset == source.endOffset).map(_.option)
    kept.orElse(parts.flatMap(of(_)).headOption).map(Trigger.Limit(_, isBehind))
  }

  private def any(source: SourceProgress, isBehind: Boolean, read: BatchRead)(
      part: ReadLimit
  ): Option[String] = part match {
    case rows: ReadMaxRows if rows.maxRows < Long.MaxValue && (isBehind || isFull(source, rows)) =>
      Some("maxOffsetsPerTrigger")
    case bytes: ReadMaxBytes if isBehind && bytes.maxBytes < Long.MaxValue => Some(MaxBytes)
    // Files do not tell how many are left: a batch that takes as many as it may is taken for one that leaves some.
    case most: ReadMaxFiles if isBehind || read.files >= most.maxFiles => Some("maxFilesPerTrigger")
    case PythonReadLimit(name) if isBehind && name.startsWith("ReadMax") => Some(name)
    // Here the last file may go beyond it, so a batch that is not cut is smaller.
    case OwnMaxBytes(most) if isBehind || read.bytes >= most => Some(MaxBytes)
    case _ => None
  }

  /** Whether a batch has read as many as it may and is not told how far its source goes: it may have left some. */
  private def isFull(source: SourceProgress, rows: ReadMaxRows): Boolean =
    source.latestOffset == null && source.numInputRows >= rows.maxRows

  /**
   * The same of a table of which nobody is told how much is left. Whole files are read, until they have as much as may be
   * read. That counts as with files.
   */
  private def ofTable(options: Options, source: SourceProgress, read: BatchRead)(
      part: ReadLimit
  ): Option[String] = {
    val table = read.tables.getOrElse(source.description, TableRead())
    part match {
      case most: ReadMaxRows if source.numInputRows >= most.maxRows => Some(options.rows)
      case most: ReadMaxFiles if table.files >= most.maxFiles => Some(options.files)
      case OwnMaxBytes(most) if table.bytes >= most => options.bytes
      case _ => None
    }
  }
}

private object SourceLimit {
  private val MaxBytes = "maxBytesPerTrigger"

  /** What a table calls its limits. */
  private final case class Options(rows: String, files: String, bytes: Option[String])

  private val Tables = Map(
    RecordSource.Iceberg -> Options(
      "streaming-max-rows-per-micro-batch",
      "streaming-max-files-per-micro-batch",
      bytes = None
    ),
    RecordSource.Paimon -> Options(
      "read.stream.maxRowsPerTrigger",
      "read.stream.maxFilesPerTrigger",
      bytes = Some("read.stream.maxBytesPerTrigger")
    )
  )

  /** A limit may hold others: Spark's own that does so, and Delta's. */
  private def partsOf(limit: ReadLimit): Seq[ReadLimit] = limit match {
    case several: CompositeReadLimit => several.getReadLimits.toSeq.flatMap(partsOf)
    case Parts(several) => several.flatMap(partsOf)
    case one => Seq(one)
  }

  private object Parts {
    def unapply(limit: ReadLimit): Option[Seq[ReadLimit]] = limit match {
      case own: Product =>
        Some(own.productIterator.collect { case one: ReadLimit => one }.toSeq).filter(_.nonEmpty)
      case _ => None
    }
  }

  /** A limit by bytes of Delta's own or of Paimon's. They are not there to compile against, so it goes by its name. */
  private object OwnMaxBytes {
    def unapply(limit: ReadLimit): Option[Long] = limit match {
      case own: Product if limit.getClass.getSimpleName == "ReadMaxBytes" =>
        own.productIterator.collectFirst { case most: Long => most }
      case _ => None
    }
  }
}
