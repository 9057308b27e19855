package io.sparklatency.spark

import java.util
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.catalog.SupportsWrite
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.connector.catalog.TableCapability
import org.apache.spark.sql.connector.catalog.TableProvider
import org.apache.spark.sql.connector.distributions.Distribution
import org.apache.spark.sql.connector.distributions.Distributions
import org.apache.spark.sql.connector.expressions.Expression
import org.apache.spark.sql.connector.expressions.Expressions
import org.apache.spark.sql.connector.expressions.SortDirection
import org.apache.spark.sql.connector.expressions.SortOrder
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.write.DataWriter
import org.apache.spark.sql.connector.write.LogicalWriteInfo
import org.apache.spark.sql.connector.write.PhysicalWriteInfo
import org.apache.spark.sql.connector.write.RequiresDistributionAndOrdering
import org.apache.spark.sql.connector.write.Write
import org.apache.spark.sql.connector.write.WriteBuilder
import org.apache.spark.sql.connector.write.WriterCommitMessage
import org.apache.spark.sql.connector.write.streaming.StreamingDataWriterFactory
import org.apache.spark.sql.connector.write.streaming.StreamingWrite
import org.apache.spark.sql.types.IntegerType
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** A table of numbers that has them dealt out and sorted before it writes them, as tables with partitions have. */
class DealtTable extends TableProvider {
  override def inferSchema(options: CaseInsensitiveStringMap): StructType = DealtTable.schema

  override def getTable(
      schema: StructType,
      partitioning: Array[Transform],
      properties: util.Map[String, String]
  ): Table = new DealtTable.Numbers(new CaseInsensitiveStringMap(properties).getBoolean("shuffled", true))
}

object DealtTable {
  private val schema = new StructType().add("one", IntegerType)
  private val written = new ConcurrentLinkedQueue[Seq[Int]]

  /** What was written since the last call: the columns of each row. */
  def taken(): Seq[Seq[Int]] = {
    val rows = written.asScala.toSeq
    written.clear()
    rows
  }

  private final class Numbers(isShuffled: Boolean) extends Table with SupportsWrite {
    override def name(): String = "numbers"
    override def schema(): StructType = DealtTable.schema
    override def capabilities(): util.Set[TableCapability] = Set(TableCapability.STREAMING_WRITE).asJava

    override def newWriteBuilder(info: LogicalWriteInfo): WriteBuilder = new WriteBuilder {
      override def build(): Write = new Write with RequiresDistributionAndOrdering {
        override def requiredDistribution(): Distribution =
          if (isShuffled) Distributions.clustered(Array[Expression](Expressions.column("one")))
          else Distributions.unspecified()
        override def requiredOrdering(): Array[SortOrder] =
          Array(Expressions.sort(Expressions.column("one"), SortDirection.ASCENDING))
        override def toStreaming: StreamingWrite = Writes
      }
    }
  }

  private object Writes extends StreamingWrite {
    override def createStreamingWriterFactory(info: PhysicalWriteInfo): StreamingDataWriterFactory = Writers
    override def commit(epoch: Long, messages: Array[WriterCommitMessage]): Unit = ()
    override def abort(epoch: Long, messages: Array[WriterCommitMessage]): Unit = ()
  }

  private object Written extends WriterCommitMessage

  private object Writers extends StreamingDataWriterFactory {
    override def createWriter(partition: Int, task: Long, epoch: Long): DataWriter[InternalRow] =
      new DataWriter[InternalRow] {
        override def write(row: InternalRow): Unit = {
          written.add((0 until row.numFields).map(row.getInt))
          ()
        }
        override def commit(): WriterCommitMessage = Written
        override def abort(): Unit = ()
        override def close(): Unit = ()
      }
  }
}
