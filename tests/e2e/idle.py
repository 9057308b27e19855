"""The application under test: windows over two Kafka topics by event time, of which one falls silent.

The same query twice, with an idle timeout and without. Prints a line of JSON for each batch that has given
windows out, and for each change of who is idle. When there is a file, a last line tells what the topics hold.
"""

import json
import sys
import time
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import count, unix_millis, window
from pyspark.sql.streaming.query import StreamingQuery
from telling import tell

from sparklatency import latency, with_idle_timeout

DELAY = 5
TIMEOUT = 3
"""Seconds. Windows have one."""

WITHOUT, WITH = "without", "with"


class Application:
    def __init__(self, spark: SparkSession, folder: Path, brokers: str, topics: list[str]) -> None:
        self._spark, self._folder, self._brokers, self._topics = spark, folder, brokers, topics

    def start(self, name: str) -> StreamingQuery:
        def write(batch: DataFrame, _: int) -> None:
            if rows := [list(row) for row in batch.collect()]:
                tell(json.dumps({"query": name, "rows": rows}))

        one, other = (self._events(name, topic) for topic in self._topics)
        writer = counted(one.union(other)).writeStream.queryName(name).foreachBatch(write)
        return writer.option("checkpointLocation", str(self._folder / name)).start()

    def _events(self, name: str, topic: str) -> DataFrame:
        reader = self._spark.readStream.format("kafka").option("kafka.bootstrap.servers", self._brokers)
        events = reader.option("subscribe", topic).option("startingOffsets", "earliest").load()
        watermarked = events.select("timestamp").withWatermark("timestamp", f"{DELAY} seconds")
        return with_idle_timeout(watermarked, f"{TIMEOUT} seconds") if name == WITH else watermarked

    def whole(self) -> list[list[int]]:
        reader = self._spark.read.format("kafka").option("kafka.bootstrap.servers", self._brokers)
        return [
            list(row) for row in counted(reader.option("subscribe", ",".join(self._topics)).load()).collect()
        ]


def counted(events: DataFrame) -> DataFrame:
    counts = events.groupBy(window("timestamp", "1 second")).agg(count("*").alias("records"))
    return counts.select(unix_millis("window.end").alias("end"), "records")


def idle(name: str, after: int) -> list[tuple[int, list[str]]]:
    """The sources that were idle in each batch after one, as the figures have it."""
    batches = [batch for query in latency().queries if query.query == name for batch in query.history(20)]
    return [
        (batch.batch, [of.source for of in batch.watermarks if of.idle_since is not None])
        for batch in batches
        if batch.batch > after
    ]


def main(folder: str, brokers: str, *topics: str) -> None:
    spark = SparkSession.builder.appName("idle").getOrCreate()
    application = Application(spark, Path(folder), brokers, list(topics))
    for name in (WITHOUT, WITH):
        application.start(name)
    tell("started")
    told: dict[str, tuple[int, list[str]]] = {WITHOUT: (-1, []), WITH: (-1, [])}
    while not Path(folder, "sent").exists():
        for name in told:
            for number, now in idle(name, after=told[name][0]):
                if now != told[name][1]:
                    tell(json.dumps({"query": name, "idle": now}))
                told[name] = number, now
        time.sleep(0.1)
    tell(json.dumps({"whole": application.whole()}))
    for query in spark.streams.active:
        query.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
