"""The application under test: marks records as they leave Kafka and results as they return to it.

With windows, in update mode with the newest timestamp of each window: whatever passes the node ``sink``
becomes one record of the output topic, whose value is the very timestamp that ``sink`` measured against. So a
consumer of that topic can say, row by row, what the driver may have said at most. The other shapes have no
mark and no timestamp at their end: what there is comes from automatic nodes.
"""

import sys

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import expr, unix_millis, window
from pyspark.sql.functions import max as greatest

from sparklatency import with_e2e_latency

RESTS_MS = 2
"""What each record takes on its way, where nothing else is done with it."""


def read(spark: SparkSession, brokers: str, topic: str) -> DataFrame:
    records = spark.readStream.format("kafka").option("kafka.bootstrap.servers", brokers)
    topic_from_its_start = records.option("subscribe", topic).option("startingOffsets", "earliest").load()
    return topic_from_its_start.withWatermark("timestamp", "1 minute")


def newest(source: DataFrame) -> DataFrame:
    return source.groupBy(window("timestamp", "1 second"), "key").agg(greatest("timestamp").alias("newest"))


def windowed(source: DataFrame) -> DataFrame:
    result = with_e2e_latency(newest(with_e2e_latency(source, "source")), "sink", timestamp="newest")
    return texts(result, "newest")


def folded(source: DataFrame) -> DataFrame:
    """Spark makes the texts where it aggregates, and nothing else comes out there."""
    return texts(newest(source), "newest")


def plain(source: DataFrame) -> DataFrame:
    return texts(rested(source), "timestamp")


def rested(source: DataFrame) -> DataFrame:
    """The same records, each of which has rested. Spark does not know that none is left out."""
    rests = source.withColumn("rest", expr(f"reflect('java.lang.Thread', 'sleep', {RESTS_MS}L)"))
    return rests.filter("coalesce(rest, 'null') = 'null'").drop("rest")


def texts(results: DataFrame, timestamp: str) -> DataFrame:
    return results.select("key", unix_millis(timestamp).cast("string").alias("value"))


SHAPES = {"windowed": windowed, "folded": folded, "plain": plain}


def main(brokers: str, records: str, results: str, checkpoint: str, shape: str) -> None:
    spark = SparkSession.builder.appName("e2e").getOrCreate()
    print(spark.sparkContext.applicationId, flush=True)
    source = read(spark, brokers, records)
    query = (
        SHAPES[shape](source)
        .writeStream.format("kafka")
        .option("kafka.bootstrap.servers", brokers)
        .option("topic", results)
        .option("checkpointLocation", checkpoint)
        .outputMode("update")
        .trigger(processingTime="1 second")
        .queryName("orders")
        .start()
    )
    query.awaitTermination()


if __name__ == "__main__":
    main(*sys.argv[1:])
