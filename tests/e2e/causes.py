"""Pipelines whose cause of latency is known, one after another; prints for each batch what the query says.

Every pipeline goes through phases: what is slow is in a file, which its functions read. A phase ends
when the query has named its cause twice running, or after so many batches.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread

import pandas as pd
import truths
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamWriter, WriterCommitMessage
from pyspark.sql.functions import expr, window
from pyspark.sql.pandas.functions import pandas_udf
from pyspark.sql.streaming.readwriter import DataStreamWriter
from pyspark.sql.types import StructType
from truths import Seen, Truth, read_pauses
from waits import await_until

from sparklatency import NoFiguresError, latency, with_e2e_latency
from sparklatency.values.queries import QueryLatency

BATCHES = 60
"""How many batches a phase has at the most."""

PAUSES = "pauses.jsonl"
"""Where what is slow has written down when it was."""

SECONDS = 180
"""How long it may take, beside other work."""


@dataclass(frozen=True)
class Phase:
    cause: str
    node: str | None
    slow: dict[str, float] = field(default_factory=dict)
    """Seconds: ``row`` of each row at ``scored``, ``sink`` of each batch at the sink."""
    batches: int = 2
    """How many it has at the least."""
    truth: Truth | None = None
    """How long the part that leads takes; None where nothing tells it."""


class Pipelines:
    """The pipelines, each by its name."""

    def __init__(self, spark: SparkSession, folder: Path, brokers: str, topic: str) -> None:
        self._spark, self._folder, self._brokers, self._topic = spark, folder, brokers, topic
        self._slow = folder / "slow.json"
        self._wrote: list[int] = []

    def slow(self, seconds: dict[str, float]) -> None:
        new = self._slow.with_suffix(".new")
        new.write_text(json.dumps({"row": 0, "sink": 0, **seconds}))
        new.replace(self._slow)

    def run(self, name: str, *phases: Phase) -> Iterator[dict[str, object]]:
        self.slow(phases[0].slow)
        make: Callable[[], tuple[DataFrame, str]] = getattr(self, f"_{name}")
        rows, trigger = make()
        writer = rows.writeStream.queryName(name).option("checkpointLocation", str(self._folder / name))
        query = self._sink(name, writer).trigger(processingTime=trigger).start()
        try:
            for number, phase in enumerate(phases):
                self.slow(phase.slow)
                changed = time.time() * 1000
                yield from self._watched(name, number, phase, changed)
                if (failure := query.exception()) is not None:
                    raise failure
        finally:
            query.stop()

    def _watched(self, name: str, number: int, phase: Phase, changed: float) -> Iterator[dict[str, object]]:
        seen: dict[int, dict[str, object]] = {}
        until = time.monotonic() + SECONDS
        while time.monotonic() < until and len(seen) < BATCHES:
            time.sleep(0.1)
            try:
                query = latency(name).query
            except NoFiguresError:
                continue
            batch = query.last_batch
            if batch is None or batch.batch in seen or batch.start.timestamp() * 1000 < changed:
                continue
            said = {
                "pipeline": name,
                "phase": number,
                "expected": [phase.cause, phase.node],
                "batch": batch.batch,
                "named": [query.headline.code, query.headline.node],
                "text": query.headline.text,
                "parts": sum(part.ms for part in query.parts.of),
                "leads": query.headline.own,
                **self._told(name, phase, query, batch.batch),
                "skew": self._skew(query, phase.node),
                "lag": query.progress.records_lag,
            }
            seen[batch.batch] = said
            yield said
            named = [one["named"] for one in list(seen.values())[-2:]]
            if len(seen) >= phase.batches and named == [[phase.cause, phase.node]] * 2:
                return

    def _told(self, name: str, phase: Phase, query: QueryLatency, last: int) -> dict[str, object]:
        """The age of records at the commit, and the bounds of the part that leads, in the last batch that
        tells that age: that is whose parts a query tells."""
        batches = [one for one in query.history(BATCHES * 10) if one.batch <= last]
        while batches:
            end = batches[-1].nodes[-1].commit if batches[-1].nodes else None
            if end is not None and end.avg is not None:
                pauses = [
                    pause
                    for pause in read_pauses(self._slow.with_name(PAUSES))
                    if truths.ms(batches[-1].start) <= pause.begun <= truths.ms(batches[-1].committed)
                ]
                seen = Seen(batches, end.avg, pauses, self._folder / name, self._wrote)
                return {"age": end.avg, "bounds": phase.truth and truths.tell(phase.truth, seen)}
            batches.pop()
        return {"age": None, "bounds": None}

    def _skew(self, query: QueryLatency, name: str | None) -> float | None:
        """How many times the median the slowest partition of a node took in the last batch that tells it."""
        told = query.operators.nodes if query.operators is not None else ()
        return next((node.partitions.skew for node in told if node.node == name), None)

    def _sink(self, name: str, writer: DataStreamWriter) -> DataStreamWriter:
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

    def _scoring(self) -> tuple[DataFrame, str]:
        return self._scored(self._rate(40)), "0 seconds"

    def _saturated(self) -> tuple[DataFrame, str]:
        return self._scored(self._rate(100)), "0 seconds"

    def _seldom(self) -> tuple[DataFrame, str]:
        return self._scored(self._rate(20)), "5 seconds"

    def _old(self) -> tuple[DataFrame, str]:
        rows = self._rate(20).selectExpr("value", "timestamp - INTERVAL 1 HOUR AS timestamp")
        return self._scored(rows), "0 seconds"

    def _windowed(self) -> tuple[DataFrame, str]:
        rows = with_e2e_latency(self._rate(20).withWatermark("timestamp", "8 seconds"), "source")
        counted = rows.groupBy(window("timestamp", "2 seconds")).count()
        return with_e2e_latency(counted, "windows", "window"), "0 seconds"

    def _joined(self) -> tuple[DataFrame, str]:
        """Every record waits five seconds for its match."""
        left = with_e2e_latency(self._rate(20).withWatermark("timestamp", "1 minute"), "left", "timestamp")
        late = self._rate(20).selectExpr("value - 100 AS match", "timestamp AS later")
        right = with_e2e_latency(late.withWatermark("later", "1 minute"), "right", "later")
        near = expr("value = match AND later BETWEEN timestamp AND timestamp + INTERVAL 1 MINUTE")
        return with_e2e_latency(left.join(right, near), "joined", "timestamp"), "0 seconds"

    def _files(self) -> tuple[DataFrame, str]:
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

    def _written(self) -> tuple[DataFrame, str]:
        return self._at_leisure("written"), "0 seconds"

    def _trickle(self) -> tuple[DataFrame, str]:
        """Each batch takes all there is, which is as many files as it may."""
        return self._now_and_then("five-seconds-old", 5000, lambda _: time.sleep(1.5)), "0 seconds"

    def _unhurried(self) -> tuple[DataFrame, str]:
        return self._at_leisure("unhurried"), "0 seconds"

    def _at_leisure(self, name: str) -> DataFrame:
        """Each batch is over a second before the next file comes, so no record waits for it."""
        commits = self._folder / name / "commits"

        def rest(batch: int) -> None:
            await_until((commits / str(batch)).exists, within=SECONDS, every=0.05)
            time.sleep(1)

        return self._now_and_then(f"of-now-{name}", 0, rest)

    def _now_and_then(self, name: str, age_ms: int, rest: Callable[[int], None]) -> DataFrame:
        """A file after each rest, whose records are so old when it comes."""
        folder = self._folder / name
        folder.mkdir()
        self._wrote = wrote = []

        def fill() -> None:
            with suppress(TimeoutError):  # the query has been stopped
                for number in range(SECONDS):
                    wrote.append(int(time.time() * 1000))
                    then = wrote[-1] - age_ms
                    new = folder / f".{number}"
                    new.write_text(f'{{"at": {then}, "value": {number}}}\n' * 4)
                    new.rename(folder / f"{number}.json")
                    rest(number)

        Thread(target=fill, daemon=True).start()
        stream = self._spark.readStream.schema("at LONG, value LONG").option("maxFilesPerTrigger", 1)
        rows = stream.json(str(folder)).selectExpr("value", "timestamp_millis(at) AS timestamp")
        return self._scored(rows)

    def _one_by_one(self) -> tuple[DataFrame, str]:
        """No row waits for others to be scored with, so on average they have left the last node after half of
        the batch."""
        rows = with_e2e_latency(self._rate(100), "source", "timestamp")
        scored = rows.withColumn("score", expr("reflect('java.lang.Thread', 'sleep', 30L)"))
        return with_e2e_latency(scored, "scored", "timestamp"), "0 seconds"

    def _unread(self) -> tuple[DataFrame, str]:
        """Nobody can see when the work before the only mark began."""
        shuffled = self._rate(20).withColumn("score", self._score()("value")).repartition(2)
        return with_e2e_latency(shuffled, "shuffled", "timestamp"), "0 seconds"

    def _kafka(self) -> tuple[DataFrame, str]:
        """The first batch takes twice as long as the others, for the same reason."""
        kafka = {"kafka.bootstrap.servers": self._brokers}
        many = self._spark.range(0, 400, 1, 1).selectExpr("CAST(id AS STRING) AS value")
        many.write.format("kafka").options(**kafka).option("topic", self._topic).save()
        stream = self._spark.readStream.format("kafka").options(**kafka).option("subscribe", self._topic)
        rows = stream.option("startingOffsets", "earliest").option("maxOffsetsPerTrigger", 40).load()
        values = rows.selectExpr("CAST(value AS STRING) AS value", "timestamp")
        return self._scored(values, twice=40), "0 seconds"

    def _silent(self) -> tuple[DataFrame, str]:
        """Nothing comes to the other side, so no record is ever known to have no match."""
        folder = self._folder / "never"
        folder.mkdir()
        left = with_e2e_latency(self._rate(20).withWatermark("timestamp", "1 second"), "left", "timestamp")
        other = self._spark.readStream.schema("match LONG, later TIMESTAMP").json(str(folder))
        right = with_e2e_latency(other.withWatermark("later", "1 second"), "right", "later")
        near = expr("value = match AND later BETWEEN timestamp AND timestamp + INTERVAL 1 SECOND")
        joined = left.join(right, near, "left_outer")
        return with_e2e_latency(joined, "joined", "timestamp"), "0 seconds"

    def _committed(self) -> tuple[DataFrame, str]:
        return self._scored(self._rate(20)), "0 seconds"

    def _apart(self) -> tuple[DataFrame, str]:
        """The slow stage is between two others and has no node."""
        rows = with_e2e_latency(self._rate(20), "source", "timestamp")
        scored = rows.repartition(2).withColumn("score", self._score()("value"))
        return with_e2e_latency(scored.repartition(2), "scored", "timestamp"), "0 seconds"

    def _skewed(self) -> tuple[DataFrame, str]:
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


WORK = "slowest-step"

# What is slow takes longer than Spark does to start a batch on a busy machine, which is two seconds and more.
PIPELINES = {
    "scoring": [
        Phase(WORK, "scored", {"row": 0.05}, truth=truths.scored),
        Phase("commit", "scored", {"sink": 5}, truth=truths.slept_behind),
        Phase(WORK, "scored", {"row": 0.06}, truth=truths.scored),
    ],
    "saturated": [Phase(WORK, "scored", {"row": 0.03}, truth=truths.scored)],
    "one_by_one": [Phase(WORK, "scored", batches=4, truth=truths.one_by_one)],
    "unhurried": [Phase(WORK, "scored", {"row": 1}, truth=truths.scored)],
    "seldom": [
        Phase("waited-for-the-trigger", None, truth=truths.trigger),
        Phase("commit", "scored", {"sink": 4.5}, truth=truths.slept_behind),
    ],
    "old": [Phase("arrived-old", None, truth=truths.an_hour_old)],
    "windowed": [Phase("waited-in-state", "windows", truth=truths.windowed)],
    "joined": [Phase("waited-in-state", "joined", truth=truths.joined)],
    "files": [Phase("backlog", "scored", {"row": 0.5}, truth=truths.backlog)],
    "trickle": [Phase("arrived-old", None, batches=8, truth=truths.five_seconds_old)],
    # It has no parts: nobody can see where the first ends.
    "unread": [Phase("one-node", "shuffled", {"row": 0.05})],
    "kafka": [Phase("backlog", "scored", {"row": 0.1}, truth=truths.backlog)],
    # No part is known at all.
    "silent": [Phase("unknown", None, batches=3)],
    "written": [Phase("commit", "scored", {"sink": 1.5}, truth=truths.written)],
    "committed": [Phase("commit", "scored", {"sink": 4}, truth=truths.slept_behind)],
    "apart": [Phase(WORK, None, {"row": 0.08}, truth=truths.scored)],
    "skewed": [
        Phase(WORK, "scored", {"row": 0.05}, truth=truths.scored),
        Phase("commit", "scored", {"sink": 5}, truth=truths.slept_behind),
    ],
}


def main(folder: str, brokers: str, topic: str, *names: str) -> None:
    spark = SparkSession.builder.getOrCreate()
    spark.conf.set("spark.sql.shuffle.partitions", 2)
    pipelines = Pipelines(spark, Path(folder), brokers, topic)
    for name in names or PIPELINES:
        for said in pipelines.run(name, *PIPELINES[name]):
            print(json.dumps(said), flush=True)
    print("done", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
