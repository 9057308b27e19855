"""The application under test: a query with automatic nodes, then the same query marked by hand.

It prints where its UI is when both have ended, and stays until there is a file `end`. Prometheus sees a query
for two minutes after its end: so the one that it is asked for comes last.
"""

import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql.functions import max as greatest

from sparklatency import configure, with_e2e_latency


def main(records: str, folder: str) -> None:
    spark = configure(SparkSession.builder.appName("older_line")).getOrCreate()  # which finds all there
    lines = spark.readStream.schema("key STRING, at TIMESTAMP").csv(records)
    read = lines.withWatermark("at", "1 hour")

    source = with_e2e_latency(read, "source")
    newest = source.groupBy("key").agg(greatest("at").alias("newest"))
    by_hand = with_e2e_latency(newest, "sink", timestamp="newest")

    for name, auto, query in (
        ("automatic", "source,stateful,terminal", read.dropDuplicates(["key", "at"])),
        ("by_hand", "", by_hand),
    ):
        spark.conf.set("spark.sparklatency.auto", auto)
        started = query.writeStream.format("noop").outputMode("update").queryName(name)
        started.option("checkpointLocation", f"{folder}/{name}").trigger(
            availableNow=True
        ).start().awaitTermination()
    print("older_line:", spark.sparkContext.applicationId, spark.sparkContext.uiWebUrl, flush=True)
    while not Path(folder, "end").exists():
        time.sleep(0.1)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
