package io.sparklatency.spark

import java.util
import java.util.Optional

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read.InputPartition
import org.apache.spark.sql.connector.read.PartitionReader
import org.apache.spark.sql.connector.read.PartitionReaderFactory
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream
import org.apache.spark.sql.connector.read.streaming.Offset
import org.apache.spark.sql.connector.read.streaming.ReadLimit
import org.apache.spark.sql.connector.read.streaming.ReportsSourceMetrics
import org.apache.spark.sql.connector.read.streaming.SupportsAdmissionControl
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.types.TimestampType

/** A topic of two partitions as Kafka's source reads it: a batch takes two records of each, and says how far it is behind. */
class TopicSource extends StreamedSource("topic", TopicSource.schema) {
  override protected def stream(): MicroBatchStream = new TopicSource.Topic
}

object TopicSource {
  private val schema = new StructType().add("value", TimestampType)
  private val json = new ObjectMapper
  private val most = 2

  /** How many records each partition has. */
  @volatile var records: Seq[Int] = Seq(5, 2)

  /** How far it says that a partition is behind, where the last one is behind so far. */
  @volatile var said: Int => Int = identity

  /** How many records of each partition come before it. */
  private final case class Read(of: Seq[Int]) extends Offset {
    override def json(): String =
      of.zipWithIndex.map { case (many, partition) => s""""$partition":$many""" }.mkString(
        """{"orders":{""",
        ",",
        "}}"
      )
  }

  private final case class Slice(many: Int) extends InputPartition

  private final class Topic extends MicroBatchStream with SupportsAdmissionControl with ReportsSourceMetrics {
    override def toString: String = "KafkaV2[Subscribe[orders]]"
    override def getDefaultReadLimit: ReadLimit = ReadLimit.maxRows(2L * most)
    override def initialOffset(): Offset = Read(records.map(_ => 0))
    override def latestOffset(): Offset = throw new UnsupportedOperationException
    override def latestOffset(start: Offset, limit: ReadLimit): Offset =
      Read(deserializeOffset(start.json).of.zip(records).map { case (read, all) => (read + most).min(all) })
    override def reportLatestOffset(): Offset = Read(records)

    override def metrics(consumed: Optional[Offset]): util.Map[String, String] = {
      val behind = records.zip(deserializeOffset(consumed.get.json).of).map { case (all, read) => all - read }
      Map("maxOffsetsBehindLatest" -> said(behind.max).toString).asJava
    }

    override def deserializeOffset(text: String): Read =
      Read(json.readTree(text).get("orders").elements.asScala.map(_.asInt).toSeq)
    override def commit(end: Offset): Unit = ()
    override def stop(): Unit = ()

    override def planInputPartitions(start: Offset, end: Offset): Array[InputPartition] =
      deserializeOffset(end.json).of.zip(deserializeOffset(start.json).of)
        .map { case (until, from) => Slice(until - from): InputPartition }.toArray

    override def createReaderFactory(): PartitionReaderFactory = {
      case Slice(many) => new PartitionReader[InternalRow] {
          private var left = many
          override def next(): Boolean = {
            left -= 1
            left >= 0
          }
          override def get(): InternalRow = InternalRow(0L)
          override def close(): Unit = ()
        }
      case other => throw new IllegalArgumentException(other.toString)
    }
  }
}
