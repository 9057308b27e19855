"""Queries that are well until something happens to what they stand on: a sink, a broker, all executors.

What shall happen to a sink, or to a function that takes batches, does when there is a file. Each application
looks at itself, by SQL and as a notebook does, and prints when it is seen there that its batch hangs.
"""

import re
import sys
import time
from pathlib import Path

from pyspark.sql import DataFrame, Row, SparkSession

from sparklatency import latency, with_e2e_latency

HANGS = re.compile(r"Batch \d+ has run for .*?, where one usually takes [^<]*")


class Sink:
    """Writes nothing, and from when there is a file it does not come back from it."""

    def __init__(self, hangs: Path) -> None:
        self._hangs = hangs

    def process(self, _: Row) -> None:
        await_end(self._hangs)


def await_end(hangs: Path) -> None:
    while hangs.exists():
        time.sleep(0.1)


def main(kind: str, folder: str, brokers: str, topic: str) -> None:
    spark = SparkSession.builder.appName(kind).getOrCreate()
    print("stuck:", spark.sparkContext.uiWebUrl, flush=True)
    if kind == "broker":
        kafka = spark.readStream.format("kafka").option("kafka.bootstrap.servers", brokers)
        rows = kafka.option("subscribe", topic).load()
    else:
        rows = spark.readStream.format("rate").option("rowsPerSecond", 10).option("numPartitions", 1).load()
    marked = with_e2e_latency(rows, "source", "timestamp")
    writer = marked.writeStream.queryName(kind).option("checkpointLocation", str(Path(folder, "checkpoint")))
    hangs = Path(folder, "hang")

    def write(batch: DataFrame, _: int) -> None:
        batch.write.format("noop").mode("append").save()
        await_end(hangs)

    if kind == "sink":
        to = writer.foreach(Sink(hangs))
    elif kind == "function":
        to = writer.foreachBatch(write)
    else:
        to = writer.format("noop")
    # A broker that dies between two batches leaves the query without an answer to where its topic ends.
    query = to.trigger(processingTime="10 seconds" if kind == "broker" else "1 second").start()
    shown: set[str] = set()
    vain: dict[str, float] = {}
    while query.isActive:
        asked = time.time()
        looks = {"SQL": by_sql(spark), "notebook": latency(kind)._repr_html_()}
        told = {where: found[0] for where, text in looks.items() if (found := HANGS.search(text))}
        for where in told.keys() - shown:
            print("stuck:", where, asked, vain.get(where, 0), told[where], flush=True)
        vain |= dict.fromkeys(looks.keys() - told.keys(), asked)
        shown = {*told}
        time.sleep(0.5)
    query.awaitTermination()


def by_sql(spark: SparkSession) -> str:
    """The headline, where the cause is that the batch hangs."""
    rows = spark.sql("SELECT cause, headline FROM e2e_latency()").collect()
    return "".join(row.headline for row in rows if row.cause == "stalled")


if __name__ == "__main__":
    main(*sys.argv[1:])
