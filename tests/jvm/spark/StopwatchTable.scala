package io.sparklatency.spark

import java.util
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import io.sparklatency.time.WallClock
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.catalog.SupportsRead
import org.apache.spark.sql.connector.catalog.SupportsWrite
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.connector.catalog.TableCapability
import org.apache.spark.sql.connector.catalog.TableProvider
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.read.InputPartition
import org.apache.spark.sql.connector.read.PartitionReader
import org.apache.spark.sql.connector.read.PartitionReaderFactory
import org.apache.spark.sql.connector.read.Scan
import org.apache.spark.sql.connector.read.ScanBuilder
import org.apache.spark.sql.connector.read.{Batch => BatchRead}
import org.apache.spark.sql.connector.write.BatchWrite
import org.apache.spark.sql.connector.write.DataWriter
import org.apache.spark.sql.connector.write.DataWriterFactory
import org.apache.spark.sql.connector.write.LogicalWriteInfo
import org.apache.spark.sql.connector.write.PhysicalWriteInfo
import org.apache.spark.sql.connector.write.Write
import org.apache.spark.sql.connector.write.WriteBuilder
import org.apache.spark.sql.connector.write.WriterCommitMessage
import org.apache.spark.sql.functions.udf
import org.apache.spark.sql.types.LongType
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.types.TimestampType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/**
 * A table of one partition that takes its time to be read and written, by the clock of [[StopwatchTable.begin]], and
 * notes by the clock of this process when its first read began and when its last write had ended.
 */
class StopwatchTable extends TableProvider {
  override def inferSchema(options: CaseInsensitiveStringMap): StructType = StopwatchTable.schema

  override def getTable(
      schema: StructType,
      partitioning: Array[Transform],
      properties: util.Map[String, String]
  ): Table = new StopwatchTable.Rows(new CaseInsensitiveStringMap(properties).getLong("rows", 0))
}

object StopwatchTable {

  // Milliseconds that each of these takes. A task prepares to write before it asks for a row.
  val ToPrepare = 40L
  val ToOpen = 5L
  val ToRead = 10L
  val ToWrite = 7L
  val ToCommit = 50L
  val ToStep = 100L

  @volatile private var rest: Long => Unit = (_ => ())

  /** Begins anew. Time goes by with `rest`. */
  def begin(rest: Long => Unit): Unit = {
    this.rest = rest
    forget()
  }

  /** A step that takes its time for each row. */
  val step = udf { (id: Long) =>
    stepped.add(WallClock.micros())
    rest(ToStep)
    id
  }.asNondeterministic()

  private val noted = new ConcurrentLinkedQueue[Long]
  private val stepped = new ConcurrentLinkedQueue[Long]
  private val prepared = new ConcurrentLinkedQueue[Long]

  /**
   * What has happened since the last call: when the first task was prepared, and when the first read, the step and the last write did, in
   * microseconds.
   */
  def taken(): Taken = {
    val all = noted.asScala.toSeq
    val made = Taken(prepared.asScala.min, all.min, stepped.asScala.minOption.getOrElse(0), all.max)
    forget()
    made
  }

  private def forget(): Unit = Seq(noted, stepped, prepared).foreach(_.clear())

  final case class Taken(prepared: Long, firstRead: Long, firstStep: Long, lastWrite: Long) {
    def ms: Double = (lastWrite - firstRead) / 1000.0
    def inStepMs: Double = (lastWrite - firstStep) / 1000.0
  }

  private def takes(ms: Long): Unit = {
    noted.add(WallClock.micros())
    rest(ms)
    noted.add(WallClock.micros())
    ()
  }

  private val schema = new StructType().add("id", LongType).add("ts", TimestampType)

  private final class Rows(many: Long) extends Table with SupportsRead with SupportsWrite {
    override def name(): String = "rows"
    override def schema(): StructType = StopwatchTable.schema
    override def capabilities(): util.Set[TableCapability] =
      Set(TableCapability.BATCH_READ, TableCapability.BATCH_WRITE).asJava

    override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = () =>
      new Scan with BatchRead {
        override def readSchema(): StructType = StopwatchTable.schema
        override def toBatch: BatchRead = this
        override def planInputPartitions(): Array[InputPartition] = Array(Part(many))
        override def createReaderFactory(): PartitionReaderFactory = Readers
      }

    override def newWriteBuilder(info: LogicalWriteInfo): WriteBuilder = new WriteBuilder {
      override def build(): Write = new Write {
        override def toBatch: BatchWrite = new BatchWrite {
          override def createBatchWriterFactory(info: PhysicalWriteInfo): DataWriterFactory = Writers
          override def commit(messages: Array[WriterCommitMessage]): Unit = ()
          override def abort(messages: Array[WriterCommitMessage]): Unit = ()
        }
      }
    }
  }

  private final case class Part(many: Long) extends InputPartition

  private object Readers extends PartitionReaderFactory {
    override def createReader(partition: InputPartition): PartitionReader[InternalRow] = {
      takes(ToOpen)
      val Part(many) = partition: @unchecked
      new PartitionReader[InternalRow] {
        private var at = -1L
        override def next(): Boolean = {
          at += 1
          if (at < many) takes(ToRead)
          at < many
        }
        override def get(): InternalRow = InternalRow(at, WallClock.micros())
        override def close(): Unit = ()
      }
    }
  }

  private object Written extends WriterCommitMessage

  private object Writers extends DataWriterFactory {
    override def createWriter(partition: Int, task: Long): DataWriter[InternalRow] = {
      rest(ToPrepare)
      prepared.add(WallClock.micros())
      new DataWriter[InternalRow] {
        override def write(row: InternalRow): Unit = takes(ToWrite)
        override def commit(): WriterCommitMessage = { takes(ToCommit); Written }
        override def abort(): Unit = ()
        override def close(): Unit = ()
      }
    }
  }
}
