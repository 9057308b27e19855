"""The application under test: windows over Kafka topics of which some fall silent, in several situations.

By the clock, while records come and after. Each query writes a line of JSON for each batch that has given
windows out, and at the end its progress. Then the same by event time, of what the topics hold: such a query
has come as far as it ever will when it has read all. What there should be is read by batch queries.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, count, unix_millis, window
from pyspark.sql.streaming.query import StreamingQuery
from telling import tell
from waits import EVENTS_WITHIN

from sparklatency import with_system_time_watermark

LAG = 3
WINDOW = 2
TRIGGER = 1
"""Seconds."""

SITUATIONS = ["partition", "unhurried", "joined", "never", "filtered", "silent", "restarted"]
FEW = 20
"""So many records have numbers below it that a filter lets pass."""

Read = Callable[[str], DataFrame]


def windows(situation: str, orders: str, payments: str, refunds: str, read: Read) -> DataFrame:
    """What is given out, with the end of its window first."""
    if situation in ("partition", "unhurried"):  # one of two has fallen silent
        return counted(read(orders), "partition")
    if situation == "joined":  # one of two inputs has fallen silent: orders without a payment wait for it
        return joined(read(orders), read(payments))
    if situation == "never":  # one of two inputs has never said a word
        return joined(read(orders), read(refunds))
    if situation == "filtered":
        return counted(read(orders).where(col("number") < FEW))
    return counted(read(payments))  # there is no other source


def counted(events: DataFrame, *keys: str) -> DataFrame:
    counts = events.groupBy(window("timestamp", f"{WINDOW} seconds"), *keys).agg(count("*").alias("records"))
    return counts.select(unix_millis("window.end").alias("end"), *keys, "records")


def joined(left: DataFrame, right: DataFrame) -> DataFrame:
    places = window("timestamp", f"{WINDOW} seconds")
    one = left.select(places.alias("window"), "number")
    other = right.select(places.alias("window"), "number", col("partition").alias("matched"))
    both = one.join(other, ["window", "number"], "left_outer")
    return both.select(unix_millis("window.end").alias("end"), "number", "matched")


class Application:
    def __init__(
        self,
        spark: SparkSession,
        folder: Path,
        brokers: str,
        topics: tuple[str, str, str],
        situations: list[str],
    ) -> None:
        self._spark, self._folder, self._brokers, self._topics = spark, folder, brokers, topics
        self._situations = situations

    def by_clock(self) -> None:
        """Runs all until each has given out what there is in its topics when there is a file."""
        self._given: dict[str, dict[int, list[list[int | None]]]] = {name: {} for name in self._situations}
        queries = {name: self._start("clock", name, self._by_clock) for name in self._situations}
        while not all(any(p["numInputRows"] for p in query.recentProgress) for query in queries.values()):
            time.sleep(0.1)
        tell("warm")
        while not (self._folder / "sent").exists():
            time.sleep(0.1)
        if "restarted" in queries:
            queries["restarted"] = self._restarted(queries["restarted"])
        time.sleep(WINDOW + LAG + TRIGGER)  # else the batch queries hold up what closes
        for name, query in queries.items():
            whole = self.whole(name)
            tell(json.dumps({"whole": name, "rows": whole}))
            deadline = time.monotonic() + EVENTS_WITHIN
            while sum(map(len, self._given[name].values())) < len(whole) and time.monotonic() < deadline:
                time.sleep(0.1)
            query.stop()
            self._tell_progress(name, query)

    def _restarted(self, first: StreamingQuery) -> StreamingQuery:
        # (By processAllAvailable it would be for ever: each trigger has a batch.)
        sent = self._records("restarted")
        while sum(p["numInputRows"] for p in first.recentProgress) < sent:
            time.sleep(0.1)
        first.stop()
        second = self._start("clock", "restarted", self._by_clock)
        self._tell_progress("restarted", first)
        return second

    def by_event_time(self) -> None:
        for name in self._situations:
            if name == "restarted":  # it differs by its restart alone
                continue
            query = self._start("event", name, self._by_event_time)
            query.processAllAvailable()
            query.stop()

    def whole(self, name: str) -> list[list[int | None]]:
        return [list(row) for row in windows(name, *self._topics, self._by_batch).collect()]

    def _records(self, name: str) -> int:
        return sum(records for *_, records in self.whole(name) if records)

    def _start(self, kind: str, name: str, read: Read) -> StreamingQuery:
        def write(batch: DataFrame, number: int) -> None:
            if rows := [list(row) for row in batch.collect()]:
                at = time.time_ns() // 1_000_000
                if kind == "clock":
                    self._given[name][number] = rows
                tell(json.dumps({kind: name, "batch": number, "at": at, "rows": rows}))

        writer = windows(name, *self._topics, read).writeStream.foreachBatch(write)
        writer = writer.option("checkpointLocation", str(self._folder / f"{kind}-{name}"))
        if name != "unhurried":  # that one has the default trigger
            writer = writer.trigger(processingTime=f"{TRIGGER} seconds")
        return writer.start()

    def _by_clock(self, topic: str) -> DataFrame:
        return with_system_time_watermark(self._stream(topic), "timestamp", f"{LAG} seconds")

    def _by_event_time(self, topic: str) -> DataFrame:
        return self._stream(topic).withWatermark("timestamp", f"{LAG} seconds")

    def _by_batch(self, topic: str) -> DataFrame:
        reader = self._spark.read.format("kafka").option("kafka.bootstrap.servers", self._brokers)
        return numbered(reader.option("subscribe", topic).load())

    def _stream(self, topic: str) -> DataFrame:
        reader = self._spark.readStream.format("kafka").option("kafka.bootstrap.servers", self._brokers)
        return numbered(reader.option("subscribe", topic).option("startingOffsets", "earliest").load())

    def _tell_progress(self, name: str, query: StreamingQuery) -> None:
        batches = {
            p["batchId"]: (p["timestamp"], p["eventTime"]["watermark"], p["durationMs"]["triggerExecution"])
            for p in query.recentProgress
            if "addBatch" in p["durationMs"]
        }
        tell(json.dumps({"progress": name, "batches": batches}))


def numbered(records: DataFrame) -> DataFrame:
    return records.select("timestamp", "partition", col("value").cast("string").cast("int").alias("number"))


def main(folder: str, brokers: str, orders: str, payments: str, refunds: str, situations: str) -> None:
    spark = SparkSession.builder.appName("silent").getOrCreate()
    topics = orders, payments, refunds
    application = Application(spark, Path(folder), brokers, topics, situations.split(","))
    application.by_clock()
    application.by_event_time()
    tell("done")


if __name__ == "__main__":
    main(*sys.argv[1:])
