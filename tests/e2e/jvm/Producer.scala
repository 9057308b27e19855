package io.sparklatency.e2e

import java.lang.{Long => JLong}
import java.util.Map.{of => properties}
import java.util.concurrent.locks.LockSupport

import scala.util.Using

import org.apache.kafka.clients.producer.KafkaProducer
import org.apache.kafka.clients.producer.ProducerRecord
import org.apache.kafka.common.serialization.StringSerializer

/**
 * Writes `count` records to a topic, or to one partition of it, `rate` of them a second, and ends when the broker has
 * them all.
 *
 * A record's timestamp is when it was due, not when it was sent: a stall of this process makes records older
 * instead of hiding the wait from whoever measures (coordinated omission).
 */
object Producer {
  private val Keys = 20

  def main(args: Array[String]): Unit = {
    val Array(brokers, topic, count, rate, only @ _*) = args: @unchecked
    val partition = only.headOption.map(one => Int.box(one.toInt)).orNull
    val config = properties[String, AnyRef]("bootstrap.servers", brokers)
    val strings = new StringSerializer
    Using.resource(new KafkaProducer(config, strings, strings)) { kafka =>
      kafka.partitionsFor(topic) // so that the first record does not wait for it
      val start = System.currentTimeMillis()
      val sent = (0 until count.toInt).map { i =>
        val due = start + i * 1000L / rate.toInt
        while (System.currentTimeMillis() < due) LockSupport.parkUntil(due)
        kafka.send(new ProducerRecord(topic, partition, due: JLong, s"key-${i % Keys}", i.toString))
      }
      sent.foreach(_.get)
    }
  }
}
