package io.sparklatency.e2e

import java.time.Duration
import java.util.Map.{of => properties}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.kafka.clients.consumer.KafkaConsumer
import org.apache.kafka.common.TopicPartition
import org.apache.kafka.common.serialization.StringDeserializer

/**
 * Reads a topic from its beginning to its present end and prints the latency of each record, and the record's own time,
 * in milliseconds, one record a line. As the topic was made, that is when the broker appended the record
 * (`LogAppendTime`), or when the producer was given it (`CreateTime`).
 *
 * Latency is taken from Kafka's word alone: that time, minus the record timestamp (milliseconds since the epoch) in the
 * record's value. Nothing of Spark or sparklatency is on this class path.
 */
object Observer {
  def main(args: Array[String]): Unit = {
    val Array(brokers, topic, time) = args: @unchecked
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
          require(record.timestampType.name == time, s"$topic does not carry $time")
          println(s"${record.timestamp - record.value.toLong} ${record.timestamp}")
        }
    }
  }
}
