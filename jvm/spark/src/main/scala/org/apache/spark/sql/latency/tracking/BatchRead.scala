package org.apache.spark.sql.latency.tracking

import org.apache.spark.sql.execution.datasources.FileIndex
import org.apache.spark.sql.execution.datasources.PartitioningAwareFileIndex
import org.apache.spark.sql.streaming.SourceProgress
import org.apache.spark.sql.streaming.StreamingQueryProgress

/**
 * What a batch has read of files.
 *
 * @param scans  by Spark's own source and by what reads as it does
 * @param tables what each source read that counts for itself
 */
private[tracking] final case class BatchRead(
    scans: Seq[FilesRead] = Nil,
    tables: Map[String, TableRead] = Map.empty
) {
  def files: Int = scans.map(_.number).sum
  def bytes: Long = scans.map(_.bytes).sum

  /** The same of one source: without files that lie where another of them reads, and not where this one does. */
  def of(source: SourceProgress, batch: StreamingQueryProgress): BatchRead =
    copy(scans = scans.filter(scan => scan.isOf(source) || !batch.sources.exists(scan.isOf)))

  /** Whether it has read nothing of a source, not even a file without records. */
  def hasNoneOf(source: SourceProgress): Boolean =
    source.numInputRows == 0 && files == 0 && !tables.contains(source.description)
}

/**
 * The files that one scan has read.
 *
 * @param first     the path of one of them
 * @param bytes     how large they are together
 * @param changedMs when the first of them was changed last
 */
private[tracking] final case class FilesRead(
    number: Int,
    first: Option[String],
    bytes: Long,
    changedMs: Option[Long]
) {

  /**
   * Whether they lie in the folder that a source says it reads, such as `FileStreamSource[file:/in]`; where that has a `*`, in what comes
   * before.
   */
  def isOf(source: SourceProgress): Boolean = source.description match {
    case FilesRead.OfFolder(folder) =>
      val fixed = folder.takeWhile(!FilesRead.Wildcards.contains(_))
      val begin = if (fixed == folder) s"$folder/" else fixed
      first.exists(_.startsWith(begin))
    case _ => false
  }
}

private[tracking] object FilesRead {
  private val OfFolder = """\w+\[(.*/.*)\]""".r
  private val Wildcards = "*?{["

  def of(index: FileIndex): FilesRead = index match {
    case listed: PartitioningAwareFileIndex =>
      val files = listed.allFiles()
      FilesRead(
        files.size,
        files.headOption.map(_.getPath.toString),
        index.sizeInBytes,
        files.map(_.getModificationTime).minOption
      )
    case other =>
      val files = other.inputFiles
      FilesRead(files.length, files.headOption, other.sizeInBytes, None)
  }
}

/** What a batch has read of a table: files, or parts of very large ones. */
private[tracking] final case class TableRead(files: Long = 0, bytes: Long = 0) {
  def +(other: TableRead): TableRead = TableRead(files + other.files, bytes + other.bytes)
}
