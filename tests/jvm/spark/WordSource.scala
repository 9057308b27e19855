package io.sparklatency.spark

import java.util

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.catalog.SupportsRead
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.connector.catalog.TableCapability
import org.apache.spark.sql.connector.catalog.TableProvider
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.read.InputPartition
import org.apache.spark.sql.connector.read.PartitionReader
import org.apache.spark.sql.connector.read.PartitionReaderFactory
import org.apache.spark.sql.connector.read.Scan
import org.apache.spark.sql.connector.read.ScanBuilder
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream
import org.apache.spark.sql.connector.read.streaming.Offset
import org.apache.spark.sql.types.StringType
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.apache.spark.unsafe.types.UTF8String

/** A source as users write them, which Spark does not know: a stream of two words, without a timestamp. */
class WordSource extends TableProvider {
  override def inferSchema(options: CaseInsensitiveStringMap): StructType = WordSource.schema

  override def getTable(
      schema: StructType,
      partitioning: Array[Transform],
      properties: util.Map[String, String]
  ): Table = new WordSource.Words
}

object WordSource {
  private val schema = new StructType().add("value", StringType)
  private val words = Seq("one", "two")

  private final class Words extends Table with SupportsRead {
    override def name(): String = "words"
    override def schema(): StructType = WordSource.schema
    override def capabilities(): util.Set[TableCapability] = Set(TableCapability.MICRO_BATCH_READ).asJava

    override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = () =>
      new Scan {
        override def readSchema(): StructType = WordSource.schema
        override def toMicroBatchStream(checkpoint: String): MicroBatchStream = new WordStream
      }
  }

  private final case class So(many: Int) extends Offset {
    override def json(): String = many.toString
  }

  private final case class Slice(from: Int, until: Int) extends InputPartition

  private final class WordStream extends MicroBatchStream {
    override def initialOffset(): Offset = So(0)
    override def latestOffset(): Offset = So(words.size)
    override def deserializeOffset(json: String): Offset = So(json.toInt)
    override def commit(end: Offset): Unit = ()
    override def stop(): Unit = ()

    override def planInputPartitions(start: Offset, end: Offset): Array[InputPartition] =
      (start, end) match {
        case (So(from), So(until)) => Array(Slice(from, until))
        case _ => Array.empty
      }

    override def createReaderFactory(): PartitionReaderFactory = WordReaders
  }

  private object WordReaders extends PartitionReaderFactory {
    override def createReader(partition: InputPartition): PartitionReader[InternalRow] = {
      val Slice(from, until) = partition: @unchecked
      new PartitionReader[InternalRow] {
        private var at = from - 1
        override def next(): Boolean = { at += 1; at < until }
        override def get(): InternalRow = InternalRow(UTF8String.fromString(words(at)))
        override def close(): Unit = ()
      }
    }
  }
}
