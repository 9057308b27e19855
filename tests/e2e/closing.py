"""The application under test: it counts records of files by windows, and writes each window when it closes.

By the clock or by event time, on one and the same checkpoint. It prints how many records it has read.
"""

import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql.functions import col, count, timestamp_millis, unix_millis, window

from sparklatency import with_system_time_watermark

LAG = 2
WINDOW = 2
"""Seconds."""


def main(kind: str, inbox: str, folder: str) -> None:
    spark = SparkSession.builder.appName("closing").getOrCreate()
    records = spark.readStream.schema("at LONG, key INT").json(inbox).withColumn("at", timestamp_millis("at"))
    if kind == "system-time":
        events = with_system_time_watermark(records, "at", f"{LAG} seconds")
    else:
        events = records.withWatermark("at", f"{LAG} seconds")
    counts = events.groupBy(window("at", f"{WINDOW} seconds"), "key").agg(count("*").alias("records"))
    rows = counts.select(unix_millis(col("window.end")).alias("end"), "key", "records")
    out, checkpoint = (str(Path(folder, name)) for name in ("out", "checkpoint"))
    query = rows.writeStream.format("json").option("checkpointLocation", checkpoint).start(out)
    print("read 0", flush=True)
    read, seen = 0, ""
    while query.isActive:
        time.sleep(0.05)
        last = query.lastProgress
        if last is None or last["timestamp"] <= seen:
            continue
        new = [progress for progress in query.recentProgress if progress["timestamp"] > seen]
        seen = new[-1]["timestamp"]
        if rows := sum(progress["numInputRows"] for progress in new):
            read += rows
            print(f"read {read}", flush=True)
    query.awaitTermination()


if __name__ == "__main__":
    main(*sys.argv[1:])
