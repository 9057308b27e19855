"""An application without a mark: batch reads of a topic, through either of Spark's interfaces to it."""

import json
import sys
from functools import partial

from pyspark.sql import SparkSession
from waits import EVENTS_WITHIN, await_until

from sparklatency import latency


def main(brokers: str, topic: str, records: str) -> None:
    spark = SparkSession.builder.appName("unmarked_batch").getOrCreate()
    print(spark.sparkContext.applicationId, flush=True)
    read = spark.read.format("kafka").option("kafka.bootstrap.servers", brokers).option("subscribe", topic)
    for reads, first_interface in enumerate(("kafka", ""), start=1):
        spark.conf.set("spark.sql.sources.useV1SourceList", first_interface)
        by_key = read.load().filter("key IS NOT NULL").repartition("key")
        by_key.write.format("noop").mode("overwrite").save()
        await_until(partial(is_counted, reads * int(records)), EVENTS_WITHIN)
        print(json.dumps({node.node: node.records for node in latency("__batch__").nodes}), flush=True)


def is_counted(records: int) -> bool:
    """Whether the driver has counted as many at the end: it learns of them from events."""
    return any(node.node == "sink" and node.records >= records for node in latency().nodes)


if __name__ == "__main__":
    main(*sys.argv[1:])
