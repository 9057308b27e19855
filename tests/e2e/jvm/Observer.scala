package io.sparklatency.e2e

import java.time.Duration
import java.util.Map.{of => properties}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.kafka.clients.consumer.KafkaConsumer
import org.apache.kafka.common.TopicPartition
import org.apache.kafka.common.record.TimestampType.LOG_APPEND_TIME
import org.apache.kafka.common.serialization.StringDeserializer

/**
 * Reads a topic from its beginning to its present end and prints the latency of each record, and when the broker
 * appended it, in milliseconds, one record a line.
 *
 * Latency is taken from the broker's word alone: when it appended the record, minus the record timestamp
 * (milliseconds since the epoch) in the record's value. Nothing of Spark or sparklatency is on this class path.
 */
object Observer {
  def main(args: Array[String]): Unit = {
    val Array(brokers, topic) = args: @unchecked
    val config = properties[String, AnyRef]("bootstrap.servers", brokers)
    val strings = new StringDeserializer
    Using.resource(new KafkaConsumer(config, strings, strings)) { kafka =>
      val partitions =
        kafka.partitionsFor(topic).asScala.map(p => new TopicPartition(p.topic, p.partition)).asJava
      kafka.assign(partitions)
      kafka.seekToBeginning(partitions)
      val ends = kafka.endOffsets(partitions).asScala
      while (ends.exists { case (partition, end) => kafka.position(partition) < end })
        kafka.poll(Duration.ofSeconds(1)).forEach { record =>
          require(record.timestampType == LOG_APPEND_TIME, s"$topic does not carry the broker's own time")
          println(s"${record.timestamp - record.value.toLong} ${record.timestamp}")
        }
    }
  }
}
