"""The application under test: one case after another, in each of which a task does harm at its first attempt.

Records are lines of text files, one file a partition: ``<file>,<row>,<microseconds since the epoch>``. Each
case marks them and observes them at the same point, and prints one line of JSON with what both say.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark import TaskContext
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql.functions import count, lit, split, timestamp_micros, udf
from pyspark.sql.functions import max as greatest
from pyspark.sql.functions import min as least
from pyspark.sql.streaming.query import StreamingQuery
from waits import EVENTS_WITHIN, await_until

from sparklatency import latency, with_e2e_latency
from sparklatency.view import Latency

SLOW = 1.8
"""How long, in seconds, a task tarries for the plugin to tell the driver of it while it still runs."""


def attempt() -> int:
    task = TaskContext.get()
    assert task is not None
    return task.attemptNumber()


def fail(file: int, row: int) -> bool:
    """Raises when most of a file has passed."""
    if (file, row, attempt()) == (1, 250, 0):
        time.sleep(SLOW)
        raise RuntimeError("the first attempt fails")
    return True


def tarry(file: int, row: int) -> bool:
    """Lets a task run for long enough to be told of."""
    if (file, row) == (0, 250):
        time.sleep(SLOW)
    return True


def kill_executor(file: int, row: int) -> bool:
    """Kills the executor: the parent of the daemon that has forked this process."""
    if (file, row, attempt()) == (3, 250, 0):
        time.sleep(SLOW)
        daemon = Path(f"/proc/{os.getppid()}/stat").read_text()
        os.kill(int(daemon.rpartition(")")[2].split()[1]), signal.SIGKILL)
    return True


def meet(place: Path, file: int, row: int) -> bool:
    """Holds each attempt near the end of a file until there is another one that has come as far."""
    if (file, row) == (2, 299):
        time.sleep(SLOW)
        place.mkdir(exist_ok=True)
        (place / str(attempt())).touch()
        while len(list(place.iterdir())) < 2:
            time.sleep(0.001)
    return True


def hold(held: Path, file: int, row: int) -> bool:
    """Holds the first application in the middle of a file for as long as it lives."""
    if (file, row) == (2, 250) and not held.exists():
        held.touch()
        while True:
            time.sleep(1)
    return True


def lose_shuffle_files(done: Path, files: Path) -> bool:
    """Deletes what the map stage has written, and fails: the next attempt finds nothing to read."""
    if not done.exists():
        done.touch()
        for file in files.rglob("shuffle_*_*_*.*"):
            file.unlink()
        raise RuntimeError("the shuffle files are lost")
    return True


class Cases:
    """Each public method is a case, run and reported under its name."""

    def __init__(self, spark: SparkSession, records: Path, folder: Path, cluster: Path) -> None:
        self._spark, self._records, self._folder, self._cluster = spark, records, folder, cluster

    def failure_above(self) -> None:
        records = self._mark(self._stream(), "failure_above")
        self._run("failure_above", _with(records, fail))

    def failure_below(self) -> None:
        self._run("failure_below", self._mark(_with(self._stream(), fail), "failure_below"))

    def lost_shuffle_files(self) -> None:
        name, done, files = "lost_shuffle_files", self._folder / "lost", self._cluster
        seen = Observation(name)
        records = self._mark(self._parse(self._spark.read.text(str(self._records))), name, seen)
        by_file = _with(records, tarry).groupBy("file").agg(count("harm").alias("records"))
        lose = udf(lambda _: lose_shuffle_files(done, files), "boolean", useArrow=False)
        self._spark.sparkContext.setJobGroup(name, name)
        started = now()
        by_file.withColumn("harm", lose("file")).write.format("noop").mode("overwrite").save()
        lines = sum(len(file.read_text().splitlines()) for file in self._records.iterdir())
        await_until(lambda: _is_counted(name, lines), EVENTS_WITHIN)
        self._report(name, name, started, latency("__batch__"), [seen.get])

    def speculation(self) -> None:
        place = self._folder / "meeting"
        records = self._mark(self._stream(), "speculation")
        self._run("speculation", _with(records, lambda file, row: meet(place, file, row)))

    def repeated_actions(self) -> None:
        def act(batch: DataFrame, _: int) -> None:
            batch.head(1)
            batch.coalesce(1).write.format("noop").mode("overwrite").save()
            batch.write.format("noop").mode("overwrite").save()

        records = self._mark(self._stream(), "repeated_actions")
        self._run("repeated_actions", _with(records, tarry), act)

    def killed_executor(self) -> None:
        records = self._mark(self._stream(), "killed_executor")
        self._run("killed_executor", _with(records, kill_executor))

    def killed_driver(self) -> None:
        held = self._folder / "held"
        until = None if held.exists() else held
        records = self._mark(self._stream(maxFilesPerTrigger=1), "killed_driver")
        self._run("killed_driver", _with(records, lambda file, row: hold(held, file, row)), until=until)

    def _stream(self, **options: int) -> DataFrame:
        return self._parse(self._spark.readStream.options(**options).text(str(self._records)))

    def _parse(self, lines: DataFrame) -> DataFrame:
        file, row, micros = (split("value", ",")[i].cast("long") for i in range(3))
        return lines.select(file.alias("file"), row.alias("row"), timestamp_micros(micros).alias("at"))

    def _mark(self, records: DataFrame, name: str, seen: Observation | str = "seen") -> DataFrame:
        measures = count(lit(1)).alias("records"), least("at").alias("oldest"), greatest("at").alias("newest")
        return with_e2e_latency(records, name, timestamp="at").observe(seen, *measures)

    def _run(
        self,
        name: str,
        stream: DataFrame,
        act: Callable[[DataFrame, int], None] | None = None,
        until: Path | None = None,
    ) -> None:
        """Runs a stream over all files, and reports at its end, or when there is a file."""
        writer = stream.writeStream.queryName(name).trigger(availableNow=True)
        writer = writer.format("noop") if act is None else writer.foreachBatch(act)
        started = now()
        query = writer.option("checkpointLocation", str(self._folder / name)).start()
        while query.isActive and not (until and until.exists()):
            query.awaitTermination(1)
        seen = [
            progress.observedMetrics["seen"].asDict()
            for progress in query.recentProgress
            if progress.numInputRows
        ]
        await_until(lambda: _has_told(query, len(seen)), EVENTS_WITHIN)
        self._report(name, str(query.runId), started, latency(query), seen)
        query.awaitTermination()

    def _report(
        self, name: str, group: str, started: int, figures: Latency, seen: list[dict[str, Any]]
    ) -> None:
        node = figures.nodes[name]
        told = {"records": node.records, "min": node.min, "avg": node.avg, "max": node.max}
        observed = {
            "records": sum(batch["records"] for batch in seen),
            "oldest": str(min(batch["oldest"] for batch in seen)),
            "newest": str(max(batch["newest"] for batch in seen)),
        }
        run = {"case": name, "group": group, "started": started, "ended": now()}
        print(json.dumps({**run, **told, "observed": observed}), flush=True)


def _has_told(query: StreamingQuery, batches: int) -> bool:
    """Whether events have told of all that a query did, or of so many batches of one that runs."""
    told = latency(query).queries
    return any(one.batches >= batches if query.isActive else one.status == "FINISHED" for one in told)


def _is_counted(name: str, records: int) -> bool:
    return any(node.node == name and node.records >= records for node in latency().nodes)


def _with(records: DataFrame, harm: Callable[[int, int], bool]) -> DataFrame:
    return records.withColumn("harm", udf(harm, "boolean", useArrow=False)("file", "row"))


def now() -> int:
    return time.time_ns() // 1_000_000


def main(records: str, folder: str, cluster: str, *names: str) -> None:
    spark = SparkSession.builder.appName("faults").getOrCreate()
    print(spark.sparkContext.applicationId, flush=True)
    cases = Cases(spark, Path(records), Path(folder), Path(cluster))
    for name in names:
        getattr(cases, name)()
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
