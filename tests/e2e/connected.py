"""A client of Spark Connect: a query with a mark by hand, and what the server then says of it by SQL."""

import json
import sys

from pyspark.errors import IllegalArgumentException
from pyspark.sql import SparkSession
from waits import EVENTS_WITHIN, await_until

from sparklatency import with_e2e_latency


def main(server: str, records: str, checkpoint: str) -> None:
    spark = SparkSession.builder.remote(server).getOrCreate()
    lines = spark.readStream.schema("key STRING, at TIMESTAMP").csv(records)
    marked = with_e2e_latency(lines, "source", "at").writeStream.format("noop").queryName("connected")
    marked.option("checkpointLocation", checkpoint).trigger(availableNow=True).start().awaitTermination()
    figures = "SELECT query, node, records FROM e2e_latency() WHERE status = 'FINISHED' AND node IS NOT NULL"
    rows = await_until(lambda: spark.sql(figures).collect(), EVENTS_WITHIN)
    print(json.dumps([list(row) for row in rows]))
    try:
        with_e2e_latency(lines, "source", "when")
    except IllegalArgumentException as mistake:
        print(json.dumps(str(mistake)))


if __name__ == "__main__":
    main(*sys.argv[1:])
