"""An application without a mark: batch reads of a topic, through either of Spark's interfaces to it."""

import json
import sys

from pyspark.sql import SparkSession

from sparklatency import latency


def main(brokers: str, records: str) -> None:
    spark = SparkSession.builder.appName("unmarked_batch").getOrCreate()
    print(spark.sparkContext.applicationId, flush=True)
    topic = spark.read.format("kafka").option("kafka.bootstrap.servers", brokers).option("subscribe", records)
    for first_interface in ("kafka", ""):
        spark.conf.set("spark.sql.sources.useV1SourceList", first_interface)
        by_key = topic.load().filter("key IS NOT NULL").repartition("key")
        by_key.write.format("noop").mode("overwrite").save()
        print(json.dumps({node.node: node.records for node in latency("__batch__").nodes}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
