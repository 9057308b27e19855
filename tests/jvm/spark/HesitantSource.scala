package io.sparklatency.spark

import java.util.concurrent.atomic.AtomicInteger

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read.InputPartition
import org.apache.spark.sql.connector.read.PartitionReader
import org.apache.spark.sql.connector.read.PartitionReaderFactory
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream
import org.apache.spark.sql.connector.read.streaming.Offset
import org.apache.spark.sql.connector.read.streaming.ReadLimit
import org.apache.spark.sql.connector.read.streaming.SupportsAdmissionControl
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.types.TimestampType

/** A stream of timestamps that waits until there are two more, as Kafka's does with `minOffsetsPerTrigger`. */
class HesitantSource extends StreamedSource("timestamps", HesitantSource.schema) {
  override protected def stream(): MicroBatchStream = new HesitantSource.HesitantStreamWithLimit
}

object HesitantSource {
  import StreamedSource.So

  private val schema = new StructType().add("value", TimestampType)
  @volatile private var millis = Vector.empty[Long]

  /** How many it may give at once. */
  @volatile var most = Long.MaxValue

  /** How often Spark has asked for more. */
  val looks = new AtomicInteger

  /** When it last asked, and there were too few. */
  @volatile var lastInVain = 0L

  /** How many there are: a query reads all of them, also those that another suite has added. */
  def size: Int = millis.size

  /** Of when the last two are. */
  def lastTwo: Seq[Long] = millis.takeRight(2)

  /** Called when somebody asks it for its limit, or how far it goes. */
  @volatile var asked: () => Unit = () => ()

  /** Adds one of now. */
  def add(): Unit = synchronized(millis :+= System.currentTimeMillis)

  private final case class Slice(micros: Seq[Long]) extends InputPartition

  private final class HesitantStreamWithLimit extends MicroBatchStream with SupportsAdmissionControl {
    private var latest = So(0)

    override def getDefaultReadLimit: ReadLimit = {
      asked()
      ReadLimit.compositeLimit(Array(ReadLimit.minRows(2, 3600000), ReadLimit.maxRows(most)))
    }
    override def initialOffset(): Offset = So(0)
    override def latestOffset(): Offset = throw new UnsupportedOperationException
    override def latestOffset(start: Offset, limit: ReadLimit): Offset = {
      asked()
      looks.incrementAndGet()
      val lookedAt = System.currentTimeMillis
      latest = So(millis.size)
      val read = deserializeOffset(start.json).many
      if (latest.many - read < 2) { lastInVain = lookedAt; start }
      else So(read + most.min(latest.many - read).toInt)
    }
    override def reportLatestOffset(): Offset = latest
    override def deserializeOffset(json: String): So = So(json.toInt)
    override def commit(end: Offset): Unit = ()
    override def stop(): Unit = ()

    override def planInputPartitions(start: Offset, end: Offset): Array[InputPartition] = {
      def many(offset: Offset) = deserializeOffset(offset.json).many
      Array(Slice(millis.slice(many(start), many(end)).map(_ * 1000)))
    }
    override def createReaderFactory(): PartitionReaderFactory = {
      case Slice(micros) => new PartitionReader[InternalRow] {
          private val rows = micros.iterator
          private var row = InternalRow.empty
          override def next(): Boolean = {
            val has = rows.hasNext
            if (has) row = InternalRow(rows.next())
            has
          }
          override def get(): InternalRow = row
          override def close(): Unit = ()
        }
      case other => throw new IllegalArgumentException(other.toString)
    }
  }
}
