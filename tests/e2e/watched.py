"""An application for monitoring agents to look at: every figure there is has a value, and then stands still.

It says when its first batch is over; a file tells it to go on to the second, whose record is behind the
watermark. Then it says what it has measured, and stays with its query.
"""

import json
import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql.functions import max as greatest
from pyspark.sql.functions import timestamp_millis, window

from sparklatency import latency, with_e2e_latency

QUERY, SINK = "or.ders", 'the "sink".1, %'
"""Names with what JMX, regular expressions or Prometheus take for something else."""

FIRST, SECOND = [300_000, 200_000, None, -3_600_000], [250_000]
"""Ages of the records of each batch, in milliseconds; one has no timestamp, one comes from the future: from
so far that it still does when it is read, and that the second batch is behind it however late that comes."""


def main(folder: str) -> None:
    records = Path(folder, "records")
    records.mkdir()
    spark = SparkSession.builder.appName("watched").getOrCreate()

    def write(name: str, ages: list[int | None]) -> None:
        now = time.time_ns() // 1_000_000
        lines = ("" if age is None else str(now - age) for age in ages)
        written = Path(folder, name)
        written.write_text("".join(f"row,{at}\n" for at in lines))
        written.rename(records / name)  # whole at once

    read = spark.readStream.schema("key STRING, at LONG").csv(str(records))
    events = read.select(timestamp_millis("at").alias("at")).withWatermark("at", "1 second")
    source = with_e2e_latency(events, "source")
    counts = source.groupBy(window("at", "1 second")).agg(greatest("at").alias("newest"))
    # Between the two there is something, or the sink's mark would stand in place of the aggregation's own.
    sink = with_e2e_latency(counts.filter("newest IS NOT NULL"), SINK, timestamp="newest")
    query = sink.writeStream.queryName(QUERY).outputMode("update").format("noop").start()

    def finish(batch: str, ages: list[int | None], until: int) -> None:
        write(batch, ages)
        query.processAllAvailable()
        while sum(one.input_rows for one in latency(query).history()) < until:
            time.sleep(0.05)
        print(f"watched: {batch}", flush=True)

    finish("first.csv", FIRST, len(FIRST))
    while not Path(folder, "go").exists():
        time.sleep(0.05)
    finish("second.csv", list(SECOND), len(FIRST) + len(SECOND))
    rows = spark.sql("SELECT * FROM e2e_latency()").collect()
    print("watched:", json.dumps([row.asDict() for row in rows]), flush=True)
    query.awaitTermination()


if __name__ == "__main__":
    main(*sys.argv[1:])
