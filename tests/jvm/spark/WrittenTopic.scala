package io.sparklatency.spark

import java.util.concurrent.atomic.AtomicInteger

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read.InputPartition
import org.apache.spark.sql.connector.read.PartitionReader
import org.apache.spark.sql.connector.read.PartitionReaderFactory
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream
import org.apache.spark.sql.connector.read.streaming.Offset
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.types.TimestampType

/** A topic that is written to between two questions how far it goes. */
class WrittenTopic extends StreamedSource("topic", WrittenTopic.schema) {
  override protected def stream(): MicroBatchStream = new WrittenTopic.Read
}

object WrittenTopic {
  import StreamedSource.So

  private val schema = new StructType().add("value", TimestampType)
  private val asked = new AtomicInteger

  /** How many records it has when it is asked first, and then each time until the last. */
  private val written = Vector(10, 11, 20, 20, 20, 25)

  /** It is asked for the first time again. */
  def anew(): Unit = asked.set(0)

  private final case class Slice(from: Int, until: Int) extends InputPartition

  private final class Read extends MicroBatchStream {
    override def initialOffset(): Offset = So(0)
    override def latestOffset(): Offset =
      So(written(asked.getAndIncrement().min(written.size - 1)))
    override def deserializeOffset(json: String): So = So(json.toInt)
    override def commit(end: Offset): Unit = ()
    override def stop(): Unit = ()

    override def planInputPartitions(start: Offset, end: Offset): Array[InputPartition] =
      Array(Slice(deserializeOffset(start.json).many, deserializeOffset(end.json).many))

    override def createReaderFactory(): PartitionReaderFactory = {
      case Slice(from, until) => new PartitionReader[InternalRow] {
          private val rows = (from until until).iterator
          private var row = InternalRow.empty
          override def next(): Boolean = {
            val has = rows.hasNext
            if (has) row = InternalRow(rows.next() * 1000L)
            has
          }
          override def get(): InternalRow = row
          override def close(): Unit = ()
        }
      case other => throw new IllegalArgumentException(other.toString)
    }
  }
}
