"""Pipelines in which something is slow: what each reads and does, and its sink.

How slow it is stands in a file, which their functions read, so that it may change while a query runs.
"""

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pandas as pd
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamWriter, WriterCommitMessage
from pyspark.sql.functions import expr, window
from pyspark.sql.pandas.functions import pandas_udf
from pyspark.sql.streaming.readwriter import DataStreamWriter
from pyspark.sql.types import StructType
from waits import await_until

from sparklatency import with_e2e_latency

PAUSES = "pauses.jsonl"
"""Where what is slow has written down when it was."""

SECONDS = 180
"""For how long a pipeline has something to read, where nothing is stretched."""

Made = tuple[DataFrame, str]
"""What a query gives out, and its trigger."""


class SlowPipelines:
    """The pipelines; each has a method that makes what its query gives out."""

    def __init__(self, spark: SparkSession, folder: Path, brokers: str, topic: str, stretch: int) -> None:
        self._spark, self._folder, self._brokers, self._topic = spark, folder, brokers, topic
        self.stretch = stretch
        """How many times as long all has to take that does not grow with the batches themselves."""
        self._slow = folder / "slow.json"
        self.wrote: list[int] = []
        """When each file was written that the last one reads, in milliseconds since the epoch."""

    def slow(self, seconds: dict[str, float]) -> None:
        """Sets how slow it is: ``row`` of each row at ``scored``, ``sink`` of each batch at the sink."""
        new = self._slow.with_suffix(".new")
        sink = seconds.get("sink", 0) * self.stretch
        new.write_text(json.dumps({"row": 0, **seconds, "sink": sink}))
        new.replace(self._slow)

    @property
    def pauses(self) -> Path:
        return self._folder / PAUSES

    def sink(self, name: str, writer: DataStreamWriter) -> DataStreamWriter:
        """With the sink that the pipeline of that name has."""
        slow = str(self._slow)

        def pause() -> None:
            pause_for(slow, "sink", [0])

        def write(batch: DataFrame, _: int) -> None:
            batch.write.format("noop").mode("append").save()
            pause()

        if name == "written":
            return writer.foreach(lambda _: pause())
        if name == "committed":
            self._spark.dataSource.register(committing(slow))
            return writer.format("committing")
        return writer.foreachBatch(write)

    def _rate(self, rows: int) -> DataFrame:
        stream = (
            self._spark.readStream.format("rate").option("rowsPerSecond", rows).option("numPartitions", 2)
        )
        return stream.load()

    def _score(self, twice: int = 0) -> Callable[[str], Column]:
        """Takes its time for each row, and twice as long for the first values."""
        slow = str(self._slow)

        @pandas_udf("long")  # type: ignore[call-overload, untyped-decorator]
        def score(values: pd.Series) -> pd.Series:
            numbers = [int(value) for value in values]
            pause_for(slow, "row", numbers, len(numbers) + sum(number < twice for number in numbers))
            return values

        return score  # type: ignore[no-any-return]

    def _scored(self, rows: DataFrame, timestamp: str = "timestamp", twice: int = 0) -> DataFrame:
        marked = with_e2e_latency(rows, "source", timestamp)
        return with_e2e_latency(marked.withColumn("score", self._score(twice)("value")), "scored", timestamp)

    def scoring(self) -> Made:
        return self._scored(self._rate(40)), "0 seconds"

    def saturated(self) -> Made:
        """More comes by a fifth than is scored meanwhile, so each batch is longer than the one before."""
        return self._scored(self._rate(80)), "0 seconds"

    def seldom(self) -> Made:
        return self._scored(self._rate(20)), f"{5 * self.stretch} seconds"

    def old(self) -> Made:
        rows = self._rate(20).selectExpr("value", "timestamp - INTERVAL 1 HOUR AS timestamp")
        return self._scored(rows), "0 seconds"

    def windowed(self) -> Made:
        rows = with_e2e_latency(self._rate(20).withWatermark("timestamp", "8 seconds"), "source")
        counted = rows.groupBy(window("timestamp", "2 seconds")).count()
        return with_e2e_latency(counted, "windows", "window"), "0 seconds"

    def joined(self) -> Made:
        """Every record waits five seconds for its match, or as many times as long."""
        left = with_e2e_latency(self._rate(20).withWatermark("timestamp", "1 minute"), "left", "timestamp")
        late = self._rate(20).selectExpr(f"value - {100 * self.stretch} AS match", "timestamp AS later")
        right = with_e2e_latency(late.withWatermark("later", "1 minute"), "right", "later")
        near = expr("value = match AND later BETWEEN timestamp AND timestamp + INTERVAL 1 HOUR")
        return with_e2e_latency(left.join(right, near), "joined", "timestamp"), "0 seconds"

    def files(self) -> Made:
        """The first file has the most records: were all batches as long, those of the third would have waited
        in the backlog as long as for the batch before."""
        folder = self._folder / "in"
        folder.mkdir()
        now = int(time.time() * 1000)
        for number in range(30):
            file = folder / f"{number:02}.json"
            file.write_text(f'{{"at": {now}, "value": {number}}}\n' * (4 if number else 12))
            os.utime(file, times=(now / 1000 + number - 30,) * 2)  # in the order in which they are read
        stream = self._spark.readStream.schema("at LONG, value LONG").option("maxFilesPerTrigger", 1)
        rows = stream.json(str(folder)).selectExpr("value", "timestamp_millis(at) AS timestamp")
        return self._scored(rows), "0 seconds"

    def written(self) -> Made:
        return self._at_leisure("written"), "0 seconds"

    def trickle(self) -> Made:
        """Each batch takes all there is, which is as many files as it may."""
        age, pause = 5000 * self.stretch, 1.5 * self.stretch
        return self._now_and_then("five-seconds-old", age, lambda _: time.sleep(pause)), "0 seconds"

    def unhurried(self) -> Made:
        return self._at_leisure("unhurried", rows=4 * self.stretch), "0 seconds"

    def behind(self) -> Made:
        """Each file comes as soon as the batch before has looked for files: its records wait for all of that,
        which is longer than their own work by what the sink takes."""
        offsets = self._folder / "behind" / "offsets"

        def rest(batch: int) -> None:
            await_until((offsets / str(batch)).exists, within=SECONDS * self.stretch, every=0.05)

        return self._now_and_then("of-now-behind", 0, rest, 4 * self.stretch), "0 seconds"

    def _at_leisure(self, name: str, rows: int = 4) -> DataFrame:
        """Each batch is over a second before the next file comes, so no record waits for it."""
        commits = self._folder / name / "commits"

        def rest(batch: int) -> None:
            await_until((commits / str(batch)).exists, within=SECONDS * self.stretch, every=0.05)
            time.sleep(1)

        return self._now_and_then(f"of-now-{name}", 0, rest, rows)

    def _now_and_then(self, name: str, age_ms: int, rest: Callable[[int], None], rows: int = 4) -> DataFrame:
        """A file after each rest, whose records are so old when it comes."""
        folder = self._folder / name
        folder.mkdir()
        self.wrote = wrote = []

        def fill() -> None:
            with suppress(TimeoutError):  # the query has been stopped
                for number in range(SECONDS):
                    wrote.append(int(time.time() * 1000))
                    then = wrote[-1] - age_ms
                    new = folder / f".{number}"
                    new.write_text(f'{{"at": {then}, "value": {number}}}\n' * rows)
                    new.rename(folder / f"{number}.json")
                    rest(number)

        Thread(target=fill, daemon=True).start()
        stream = self._spark.readStream.schema("at LONG, value LONG").option("maxFilesPerTrigger", 1)
        records = stream.json(str(folder)).selectExpr("value", "timestamp_millis(at) AS timestamp")
        return self._scored(records)

    def one_by_one(self) -> Made:
        """No row waits for others to be scored with, so on average they have left the last node after half of
        the batch."""
        rows = with_e2e_latency(self._rate(100), "source", "timestamp")
        scored = rows.withColumn("score", expr("reflect('java.lang.Thread', 'sleep', 30L)"))
        return with_e2e_latency(scored, "scored", "timestamp"), "0 seconds"

    def unread(self) -> Made:
        """Nobody can see when the work before the only mark began."""
        shuffled = self._rate(20).withColumn("score", self._score()("value")).repartition(2)
        return with_e2e_latency(shuffled, "shuffled", "timestamp"), "0 seconds"

    def kafka(self) -> Made:
        """The first batch takes twice as long as the others, for the same reason."""
        kafka = {"kafka.bootstrap.servers": self._brokers}
        many = self._spark.range(0, 400, 1, 1).selectExpr("CAST(id AS STRING) AS value")
        many.write.format("kafka").options(**kafka).option("topic", self._topic).save()
        stream = self._spark.readStream.format("kafka").options(**kafka).option("subscribe", self._topic)
        rows = stream.option("startingOffsets", "earliest").option("maxOffsetsPerTrigger", 40).load()
        values = rows.selectExpr("CAST(value AS STRING) AS value", "timestamp")
        return self._scored(values, twice=40), "0 seconds"

    def silent(self) -> Made:
        """Nothing comes to the other side, so no record is ever known to have no match."""
        folder = self._folder / "never"
        folder.mkdir()
        left = with_e2e_latency(self._rate(20).withWatermark("timestamp", "1 second"), "left", "timestamp")
        other = self._spark.readStream.schema("match LONG, later TIMESTAMP").json(str(folder))
        right = with_e2e_latency(other.withWatermark("later", "1 second"), "right", "later")
        near = expr("value = match AND later BETWEEN timestamp AND timestamp + INTERVAL 1 SECOND")
        joined = left.join(right, near, "left_outer")
        return with_e2e_latency(joined, "joined", "timestamp"), "0 seconds"

    def committed(self) -> Made:
        return self._scored(self._rate(20)), "0 seconds"

    def apart(self) -> Made:
        """The slow stage is between two others and has no node."""
        rows = with_e2e_latency(self._rate(20), "source", "timestamp")
        scored = rows.repartition(2).withColumn("score", self._score()("value"))
        return with_e2e_latency(scored.repartition(2), "scored", "timestamp"), "0 seconds"

    def skewed(self) -> Made:
        """The two keys are in different partitions, so neither is ever without a record."""
        rows = with_e2e_latency(self._rate(40), "read", "timestamp")
        keyed = rows.selectExpr("timestamp", "value", "CASE WHEN value % 20 = 0 THEN 2L ELSE 0L END AS key")
        return self._scored(keyed.repartition(2, "key")), "0 seconds"


def pause_for(slow: str, what: str, numbers: list[int], times: int = 1) -> None:
    """Sleeps so many times as long as is set, and writes down from when to when."""
    begun = time.time() * 1000
    time.sleep(json.loads(Path(slow).read_text())[what] * times)
    pause = {"what": what, "begun": begun, "ended": time.time() * 1000, "rows": len(numbers)}
    with Path(slow).with_name(PAUSES).open("a") as pauses:
        pauses.write(json.dumps({**pause, "first": min(numbers, default=0)}) + "\n")


def committing(slow: str) -> type[DataSource]:
    """A sink that takes its time to commit what its tasks have written at once."""

    class Committing(DataSource):
        @classmethod
        def name(cls) -> str:
            return "committing"

        # Spark gives both by their names.
        def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:  # noqa: ARG002, N802
            return Writer()

    class Writer(DataSourceStreamWriter):
        def write(self, iterator: Iterator[Row]) -> WriterCommitMessage:
            for _ in iterator:
                pass
            return WriterCommitMessage()

        def commit(self, _messages: list[WriterCommitMessage | None], _batch: int) -> None:
            pause_for(slow, "sink", [0])

    return Committing
