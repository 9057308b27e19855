"""Pipelines whose cause of latency is known, one after another; prints for each batch what the query says.

Every pipeline goes through phases: what is slow is in a file, which its functions read. A phase ends
when the query has named its cause twice running, or after so many batches. The last one is in real-time mode,
where no batch ends.

What is slow by itself is slower where Spark takes long for a batch that does nothing: else that would lead.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import dropwhile
from math import ceil
from pathlib import Path
from typing import Any

import endless
import slow_pipelines
import truths
from pyspark import cloudpickle
from pyspark.sql import SparkSession
from slow_pipelines import Made, SlowPipelines
from truths import Seen, Truth, read_pauses

from sparklatency import NoFiguresError, latency
from sparklatency.values.queries import QueryLatency

BATCHES = 60
"""How many batches a phase has at the most."""

SECONDS = 180
"""How long it may take, beside other work, where nothing is stretched."""

NOTHING_TAKES = 1.0
"""Seconds that a batch that does nothing may take until what is slow is stretched."""


@dataclass(frozen=True)
class Phase:
    cause: str
    node: str | None
    slow: dict[str, float] = field(default_factory=dict)
    """Seconds: ``row`` of each row at ``scored``, ``sink`` of each batch at the sink."""
    batches: int = 2
    """How many it has at the least once a cause is known. By more than two it is seen whether it stays."""
    truth: Truth | None = None
    """How long the part that leads takes; None where nothing tells it."""


@dataclass(frozen=True)
class Pipeline:
    make: Callable[[SlowPipelines], Made]
    phases: list[Phase]


class Watch:
    """Runs a pipeline through its phases, and says what its query says."""

    def __init__(self, pipelines: SlowPipelines, folder: Path) -> None:
        self._pipelines, self._folder = pipelines, folder

    def run(self, name: str, pipeline: Pipeline) -> Iterator[dict[str, object]]:
        self._pipelines.slow(pipeline.phases[0].slow)
        rows, trigger = pipeline.make(self._pipelines)
        writer = rows.writeStream.queryName(name).option("checkpointLocation", str(self._folder / name))
        query = self._pipelines.sink(name, writer).trigger(processingTime=trigger).start()
        try:
            for number, phase in enumerate(pipeline.phases):
                self._pipelines.slow(phase.slow)
                changed = time.time() * 1000
                yield from self._watched(name, number, phase, changed)
                if (failure := query.exception()) is not None:
                    raise failure
        finally:
            query.stop()

    def _watched(self, name: str, number: int, phase: Phase, changed: float) -> Iterator[dict[str, object]]:
        seen: dict[int, dict[str, Any]] = {}
        until = time.monotonic() + SECONDS * self._pipelines.stretch
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
            known = [*dropwhile(lambda one: one["named"][0] == "unknown" != phase.cause, seen.values())]
            named = [one["named"] for one in known[-2:]]
            if len(known) >= phase.batches and named == [[phase.cause, phase.node]] * 2:
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
                    for pause in read_pauses(self._pipelines.pauses)
                    if truths.ms(batches[-1].start) <= pause.begun <= truths.ms(batches[-1].committed)
                ]
                folder, pipelines = self._folder / name, self._pipelines
                seen = Seen(batches, end.avg, pauses, folder, pipelines.wrote, pipelines.stretch)
                return {"age": end.avg, "bounds": phase.truth and truths.tell(phase.truth, seen)}
            batches.pop()
        return {"age": None, "bounds": None}

    def _skew(self, query: QueryLatency, name: str | None) -> float | None:
        """How many times the median the slowest partition of a node took in the last batch that tells it."""
        told = query.operators.nodes if query.operators is not None else ()
        return next((node.partitions.skew for node in told if node.node == name), None)


WORK = "slowest-step"

# What is slow takes longer than Spark does to start a batch on a busy machine, which is two seconds and more.
# Where it is more than that, sinks, intervals and files are stretched. Rows that come by the second need not
# be: the longer a batch takes, the more of them the next one has.
PIPELINES = {
    "scoring": Pipeline(
        SlowPipelines.scoring,
        [
            Phase(WORK, "scored", {"row": 0.05}, truth=truths.scored),
            Phase("commit", "scored", {"sink": 5}, truth=truths.slept_behind),
            Phase(WORK, "scored", {"row": 0.06}, truth=truths.scored),
        ],
    ),
    "saturated": Pipeline(
        SlowPipelines.saturated, [Phase(WORK, "scored", {"row": 0.03}, batches=4, truth=truths.scored)]
    ),
    "one_by_one": Pipeline(
        SlowPipelines.one_by_one, [Phase(WORK, "scored", batches=4, truth=truths.one_by_one)]
    ),
    "unhurried": Pipeline(SlowPipelines.unhurried, [Phase(WORK, "scored", {"row": 1}, truth=truths.scored)]),
    "behind": Pipeline(
        SlowPipelines.behind,
        [Phase("waited-for-the-batch-before", "scored", {"row": 0.75, "sink": 2}, truth=truths.behind)],
    ),
    "seldom": Pipeline(
        SlowPipelines.seldom,
        [
            Phase("waited-for-the-trigger", None, batches=5, truth=truths.trigger),
            Phase("commit", "scored", {"sink": 4.5}, truth=truths.slept_behind),
        ],
    ),
    "old": Pipeline(SlowPipelines.old, [Phase("arrived-old", None, truth=truths.an_hour_old)]),
    "windowed": Pipeline(
        SlowPipelines.windowed, [Phase("waited-in-state", "windows", batches=5, truth=truths.windowed)]
    ),
    "joined": Pipeline(
        SlowPipelines.joined, [Phase("waited-in-state", "joined", batches=5, truth=truths.joined)]
    ),
    "files": Pipeline(SlowPipelines.files, [Phase("backlog", "scored", {"row": 0.5}, truth=truths.backlog)]),
    "trickle": Pipeline(
        SlowPipelines.trickle, [Phase("arrived-old", None, batches=8, truth=truths.five_seconds_old)]
    ),
    # It has no parts: nobody can see where the first ends.
    "unread": Pipeline(SlowPipelines.unread, [Phase("one-node", "shuffled", {"row": 0.05})]),
    "kafka": Pipeline(SlowPipelines.kafka, [Phase("backlog", "scored", {"row": 0.1}, truth=truths.backlog)]),
    # No part is known at all.
    "silent": Pipeline(SlowPipelines.silent, [Phase("unknown", None, batches=3)]),
    "written": Pipeline(
        SlowPipelines.written, [Phase("commit", "scored", {"sink": 1.5}, truth=truths.written)]
    ),
    "committed": Pipeline(
        SlowPipelines.committed, [Phase("commit", "scored", {"sink": 4}, truth=truths.slept_behind)]
    ),
    "apart": Pipeline(SlowPipelines.apart, [Phase(WORK, None, {"row": 0.08}, truth=truths.scored)]),
    "skewed": Pipeline(
        SlowPipelines.skewed,
        [
            # Its batches grow: each takes twice as long as the one before.
            Phase(WORK, "scored", {"row": 0.05}, truth=truths.scored),
            Phase("commit", "scored", {"sink": 5}, truth=truths.slept_behind),
        ],
    ),
}


def stretch(spark: SparkSession, folder: Path) -> int:
    """How many times as long as usual a batch takes here that does nothing, once classes are loaded."""
    rows = spark.readStream.format("rate").option("rowsPerSecond", 20).option("numPartitions", 2).load()
    writer = rows.writeStream.format("noop").option("checkpointLocation", str(folder / "nothing"))
    query, took = writer.start(), list[int]()
    while len(took) < 6:
        if (failure := query.exception()) is not None:
            raise failure
        time.sleep(0.1)
        took = [one["durationMs"]["triggerExecution"] for one in query.recentProgress if one["numInputRows"]]
    query.stop()
    return max(1, ceil(sorted(took[2:])[-2] / 1000 / NOTHING_TAKES))  # one of them may stand still


def main(folder: str, brokers: str, topic: str, *names: str) -> None:
    # Workers cannot import it: what they need of it comes along.
    cloudpickle.register_pickle_by_value(slow_pipelines)  # type: ignore[no-untyped-call]
    spark = SparkSession.builder.getOrCreate()
    spark.conf.set("spark.sql.shuffle.partitions", 2)
    times = stretch(spark, Path(folder))
    watch = Watch(SlowPipelines(spark, Path(folder), brokers, topic, times), Path(folder))
    for name in names or PIPELINES:
        for said in watch.run(name, PIPELINES[name]):
            print(json.dumps(said), flush=True)
    if not names:
        for look in endless.looks(spark, Path(folder), brokers, topic):
            print(json.dumps(look), flush=True)
    print("done", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
