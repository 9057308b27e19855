package io.sparklatency.spark

import java.sql.Timestamp

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.Row
import org.apache.spark.sql.SQLContext
import org.apache.spark.sql.sources.BaseRelation
import org.apache.spark.sql.sources.RelationProvider
import org.apache.spark.sql.sources.TableScan
import org.apache.spark.sql.types._

/**
 * Reads as Kafka's connector does in a batch query, without a broker: each partition of `topic` holds the numbers up to `records`,
 * number n with a timestamp n milliseconds before `now`.
 */
final class TopicProvider extends RelationProvider {
  override def createRelation(context: SQLContext, options: Map[String, String]): BaseRelation =
    new TopicRelation(context, options("topic"), options("now").toLong, options("records").toInt)
}

final class TopicRelation(val sqlContext: SQLContext, topic: String, now: Long, records: Int)
    extends BaseRelation
    with TableScan {
  override def schema: StructType = new StructType().add("value", LongType).add("timestamp", TimestampType)

  override def buildScan(): RDD[Row] = {
    val at = now
    sqlContext.sparkContext.range(1, records + 1L, 1, 1).union(
      sqlContext.sparkContext.range(1, records + 1L, 1, 1)
    )
      .map(n => Row(n, new Timestamp(at - n)))
  }

  override def toString: String =
    s"KafkaRelation(strategy=Subscribe[$topic], start=EarliestOffsetRangeLimit, end=LatestOffsetRangeLimit)"
}
