package io.sparklatency.spark

import java.util

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.connector.catalog.SupportsRead
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.connector.catalog.TableCapability
import org.apache.spark.sql.connector.catalog.TableProvider
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.metric.CustomMetric
import org.apache.spark.sql.connector.read.Scan
import org.apache.spark.sql.connector.read.ScanBuilder
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream
import org.apache.spark.sql.connector.read.streaming.Offset
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** A source as users write them, which Spark does not know. It is read as a stream alone. */
abstract class StreamedSource(table: String, fields: StructType) extends TableProvider {
  protected def stream(): MicroBatchStream

  /** What its scan says of itself. */
  protected def described: String = table

  /** What its tasks count. */
  protected def metrics: Array[CustomMetric] = Array.empty

  override def inferSchema(options: CaseInsensitiveStringMap): StructType = fields

  override def getTable(
      schema: StructType,
      partitioning: Array[Transform],
      properties: util.Map[String, String]
  ): Table = new Streamed

  private final class Streamed extends Table with SupportsRead {
    override def name(): String = table
    override def schema(): StructType = fields
    override def capabilities(): util.Set[TableCapability] = Set(TableCapability.MICRO_BATCH_READ).asJava

    override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = () =>
      new Scan {
        override def readSchema(): StructType = fields
        override def toString: String = described
        override def supportedCustomMetrics(): Array[CustomMetric] = metrics
        override def toMicroBatchStream(checkpoint: String): MicroBatchStream = stream()
      }
  }
}

object StreamedSource {

  /** An offset that is the number of rows before it. */
  final case class So(many: Int) extends Offset {
    override def json(): String = many.toString
  }
}
