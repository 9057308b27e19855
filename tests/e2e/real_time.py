"""The application under test in real-time mode. Its one batch outlasts the test: figures are of running ones.

With marks by hand or with automatic nodes; stateless, or, where the Spark line lets real-time mode keep
state, with a deduplication behind a shuffle. A file tells it to stop its query; it says when it has.
"""

import sys
import time
from pathlib import Path

from pipeline import read, rested
from pyspark.sql import SparkSession
from pyspark.sql.functions import unix_millis

from sparklatency import with_e2e_latency


def main(brokers: str, records: str, results: str, folder: str, marks: str, shape: str) -> None:
    spark = SparkSession.builder.appName("real_time").getOrCreate()
    print(spark.sparkContext.applicationId, flush=True)
    by_hand = marks == "by hand"
    events = read(spark, brokers, records)
    if by_hand:
        events = with_e2e_latency(events, "source")
    if shape == "stateful":
        events = events.dropDuplicates(["timestamp", "value"])
    events = rested(events)
    if by_hand:
        events = with_e2e_latency(events, "sink")
    else:
        spark.conf.set("spark.sparklatency.auto", "source,terminal")
    at = unix_millis("timestamp").cast("string").alias("value")
    # Without a timestamp at the end: automatic nodes carry it there.
    writer = events.select("key", at).writeStream.format("kafka").option("kafka.bootstrap.servers", brokers)
    query = (
        writer.option("topic", results)
        .option("checkpointLocation", str(Path(folder, "checkpoint")))
        .outputMode("update")
        .trigger(realTime="20 minutes")  # type: ignore[call-overload]
        .queryName("orders")
        .start()
    )
    while query.isActive and not Path(folder, "stop").exists():
        time.sleep(0.1)
    query.stop()
    print("real_time: stopped", flush=True)
    while not Path(folder, "end").exists():
        time.sleep(0.1)


if __name__ == "__main__":
    main(*sys.argv[1:])
