package io.sparklatency.e2e

import java.util.Map.{of => properties}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.kafka.clients.admin.Admin
import org.apache.kafka.clients.admin.NewTopic

/** Creates topics of two partitions, each given as `name:message.timestamp.type`. */
object Topics {
  def main(args: Array[String]): Unit = {
    val topics = args.toSeq.tail.map { topic =>
      val Array(name, timestamps) = topic.split(':'): @unchecked
      new NewTopic(name, 2, 1.toShort).configs(properties("message.timestamp.type", timestamps))
    }
    Using.resource(Admin.create(properties[String, AnyRef]("bootstrap.servers", args.head))) { admin =>
      admin.createTopics(topics.asJava).all.get
    }
  }
}
