package io.sparklatency.spark

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read.InputPartition
import org.apache.spark.sql.connector.read.PartitionReader
import org.apache.spark.sql.connector.read.PartitionReaderFactory
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream
import org.apache.spark.sql.connector.read.streaming.Offset
import org.apache.spark.sql.types.StringType
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.types.UTF8String

/** A source as users write them, which Spark does not know: a stream of two words, without a timestamp. */
class WordSource extends StreamedSource("words", WordSource.schema) {
  override protected def stream(): MicroBatchStream = new WordSource.WordStream
}

object WordSource {
  import StreamedSource.So

  private val schema = new StructType().add("value", StringType)
  private val words = Seq("one", "two")

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
