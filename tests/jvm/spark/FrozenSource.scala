package io.sparklatency.spark

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.metric.CustomMetric
import org.apache.spark.sql.connector.metric.CustomSumMetric
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.connector.read.InputPartition
import org.apache.spark.sql.connector.read.PartitionReader
import org.apache.spark.sql.connector.read.PartitionReaderFactory
import org.apache.spark.sql.connector.read.streaming.CompositeReadLimit
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream
import org.apache.spark.sql.connector.read.streaming.Offset
import org.apache.spark.sql.connector.read.streaming.ReadLimit
import org.apache.spark.sql.connector.read.streaming.ReadMaxFiles
import org.apache.spark.sql.connector.read.streaming.ReadMaxRows
import org.apache.spark.sql.connector.read.streaming.SupportsAdmissionControl
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.types.TimestampType

/** Eight files of two timestamps each, as a stream of Iceberg reads them: it never says how many are left. */
class FrozenSource extends StreamedSource("frozen", FrozenSource.schema) {
  override protected def stream(): MicroBatchStream = new FrozenSource.Frozen
  override protected def described: String = "IcebergScan(table=local.db.frozen, filters=Kafka[frozen])"
  override protected def metrics: Array[CustomMetric] = Array(new FrozenSource.Files, new FrozenSource.Bytes)
}

/** The same of Paimon. */
class PaimonSource extends FrozenSource {
  override protected def stream(): MicroBatchStream = new FrozenSource.PaimonMicroBatchStream
  override protected def described: String = "paimon"
}

object FrozenSource {
  import StreamedSource.So

  private val schema = new StructType().add("value", TimestampType)
  private val (all, rowsOfEach, bytesOfEach) = (8, 2, 100L)

  /** What a batch may read. */
  @volatile var limit: ReadLimit = ReadLimit.allAvailable()

  /** A class of its own, as Paimon has it. */
  final case class ReadMaxBytes(bytes: Long) extends ReadLimit

  /** As Iceberg and Paimon call it. */
  final class Files extends CustomSumMetric {
    override def name(): String = "numSplits"
    override def description(): String = "number of file splits read"
  }

  /** As Paimon calls it. */
  final class Bytes extends CustomSumMetric {
    override def name(): String = "splitSize"
    override def description(): String = "size of splits read"
  }

  private final case class Read(name: String, value: Long) extends CustomTaskMetric

  private final case class File(micros: Long) extends InputPartition

  private[spark] final class PaimonMicroBatchStream extends Frozen

  private[spark] class Frozen extends MicroBatchStream with SupportsAdmissionControl {
    private val micros = System.currentTimeMillis * 1000
    override def getDefaultReadLimit: ReadLimit = limit
    override def initialOffset(): Offset = So(0)
    override def latestOffset(): Offset = throw new UnsupportedOperationException
    override def latestOffset(start: Offset, most: ReadLimit): Offset =
      So((deserializeOffset(start.json).many + files(most)).min(all))

    /** Whole files, until they have as many rows as it may read. */
    private def files(most: ReadLimit): Int = most match {
      case files: ReadMaxFiles => files.maxFiles
      case bytes: ReadMaxBytes => ((bytes.bytes + bytesOfEach - 1) / bytesOfEach).toInt
      case rows: ReadMaxRows => (rows.maxRows.toInt + rowsOfEach - 1) / rowsOfEach
      case several: CompositeReadLimit => several.getReadLimits.map(files).min
      case _ => all
    }
    override def deserializeOffset(json: String): So = So(json.toInt)
    override def commit(end: Offset): Unit = ()
    override def stop(): Unit = ()

    override def planInputPartitions(start: Offset, end: Offset): Array[InputPartition] =
      Array.fill(deserializeOffset(end.json).many - deserializeOffset(start.json).many)(File(micros))
    override def createReaderFactory(): PartitionReaderFactory = {
      case File(micros) => new PartitionReader[InternalRow] {
          private var left = rowsOfEach
          override def next(): Boolean = {
            left -= 1
            left >= 0
          }
          override def get(): InternalRow = InternalRow(micros)
          override def currentMetricsValues(): Array[CustomTaskMetric] =
            Array(Read("numSplits", 1), Read("splitSize", bytesOfEach))
          override def close(): Unit = ()
        }
      case other => throw new IllegalArgumentException(other.toString)
    }
  }
}
