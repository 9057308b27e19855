"""One query that goes on for long, with its UI on.

After as many batches as each argument says, all in all, the application tells what it is made of.
"""

import json
import sys
import time
from functools import partial

from many import beans, gauges, live, look
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from waits import await_until

from sparklatency import NoFiguresError, latency, with_e2e_latency

WITHIN = 36_000
"""Seconds: a batch may take four."""


def has(query: StreamingQuery, batches: int) -> bool:
    if (failure := query.exception()) is not None:
        raise failure
    try:
        return latency("soak").query.batches >= batches
    except NoFiguresError:
        return False


def main(checkpoint: str, *counts: str) -> None:
    spark = SparkSession.builder.appName("soak").getOrCreate()
    source = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 100)
    begin = time.time_ns() // 1_000_000
    rows = source.option("startTimestamp", begin).option("advanceMillisPerBatch", 100).load()
    read = with_e2e_latency(rows, "source", timestamp="timestamp")
    sink = with_e2e_latency(read.filter("value >= 0"), "sink", timestamp="timestamp")
    writer = sink.writeStream.queryName("soak").option("checkpointLocation", checkpoint).format("noop")
    query = writer.trigger(processingTime="100 milliseconds").start()
    first, *others = map(int, counts)
    for count in (first, first, *others):  # py4j and the JVM keep what a look makes for the first time
        await_until(partial(has, query, count), WITHIN, every=1)
        look(str(spark.sparkContext.uiWebUrl))
        classes = live(spark)
        seen = {
            "gauges": gauges(spark),
            "beans": beans(spark, "sparklatency"),
            "objects": {name: instances for name, (instances, _) in classes.items()},
            "size": sum(size for _, size in classes.values()),
        }
        print("soak:", json.dumps(seen), flush=True)
    query.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
