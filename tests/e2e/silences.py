"""Runs `silent.py` with topics that fall silent, and takes what it says of the windows that it gave out."""

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Any

from broker import Broker, resolved
from cluster import Spark, settings
from silent import LAG, SITUATIONS

Rows = list[list[int | None]]

SCRIPT = Path(__file__).parent / "silent.py"
CONF = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.numRecentProgressUpdates": "1000",  # all of them, however long it takes
}
RATE = 20
WARM_UP = 40
"""Records of each topic before any figure counts: classes load."""

SENT = {"orders": [(0, 6), (1, 2)], "payments": [(0, 2), (1, 2)]}
"""Of each topic, partitions and how many seconds they speak. The last one, refunds, never does."""


@dataclass(frozen=True)
class Batch:
    """Its start and its watermark, in milliseconds since the epoch, and how many milliseconds it took."""

    start: int
    watermark: int
    took: int

    @staticmethod
    def of(start: str, watermark: str, took: int) -> "Batch":
        start_ms, watermark_ms = (
            round(datetime.fromisoformat(instant).timestamp() * 1000) for instant in (start, watermark)
        )
        return Batch(start_ms, watermark_ms, took)


@dataclass
class Told:
    """What the application said."""

    warm: int
    """When it was warm, in milliseconds since the epoch."""
    clock: dict[str, dict[int, tuple[int, Rows]]] = field(default_factory=lambda: {n: {} for n in SITUATIONS})
    """By situation and batch: when windows were given out, and which."""
    event: dict[str, Rows] = field(default_factory=lambda: {name: [] for name in SITUATIONS})
    whole: dict[str, Rows] = field(default_factory=dict)
    progress: dict[str, dict[int, Batch]] = field(default_factory=lambda: {n: {} for n in SITUATIONS})

    def take(self, said: dict[str, Any]) -> None:
        match said:
            case {"clock": name, "batch": batch, "at": at, "rows": rows}:
                self.clock[name][batch] = (at, rows)  # a batch that is replayed is given out once more
            case {"event": name, "rows": rows}:
                self.event[name] += rows
            case {"whole": name, "rows": rows}:
                self.whole[name] = rows
            case {"progress": name, "batches": batches}:
                self.progress[name] |= {int(batch): Batch.of(*facts) for batch, facts in batches.items()}

    def given(self, name: str) -> Rows:
        return [row for _, rows in self.clock[name].values() for row in rows]

    def closed(self, name: str) -> list[tuple[int, int]]:
        """Of each row that waited for the end of its window: the batch that gave it out, and that end."""
        return [
            (batch, end(row))
            for batch, (_, rows) in self.clock[name].items()
            for row in rows
            if waits(name, row)
        ]

    def latest(self, name: str) -> int:
        """By how many milliseconds a window was given out after end and lag, at most, of those when warm."""
        given = [(self.clock[name][batch][0], end) for batch, end in self.closed(name)]
        return max(at - end - LAG * 1000 for at, end in given if end > self.warm)

    def figure(self, name: str) -> str:
        """How long after their end and the lag windows were given out, of those that closed when warm."""
        latest = self.latest(name)
        ends, by_event = (ends_of(name, rows) for rows in (self.whole[name], self.event[name]))
        event = "" if name == "restarted" else f"; by event time {len(by_event)} of them, the others never"
        took = median(batch.took for batch in self.progress[name].values())
        soon = f"each at most {latest} ms after end + lag, where a batch took {took:.0f} ms"
        return f"{name}: {len(ends)} windows, {soon}{event}"


def waits(name: str, row: list[int | None]) -> bool:
    """Whether a row is given out when its window closes: a match of two records need not wait for that."""
    return name not in ("joined", "never") or row[2] is None


def ends_of(name: str, rows: Rows) -> set[int]:
    return {end(row) for row in rows if waits(name, row)}


def end(row: list[int | None]) -> int:
    assert row[0] is not None
    return row[0]


def send(broker: Broker, folder: Path, records: list[tuple[str, int, int | None]]) -> None:
    """Sends so many records to each topic, or to one partition of it, all at the same time."""
    with ExitStack() as children:
        for number, (topic, count, partition) in enumerate(records):
            place = folder / f"{topic}-{count}-{number}"
            place.mkdir()
            only = [] if partition is None else [str(partition)]
            producer = broker.program(place, "Producer", topic, str(count), str(RATE), *only)
            children.callback(producer.kill)
            children.callback(producer.finish, within=60)


def run(
    spark: Spark,
    broker: Broker,
    folder: Path,
    situations: Sequence[str],
    env: Mapping[str, str] | None = None,
    warm_up: int = WARM_UP,
) -> Told:
    """Runs the application in some situations at once.

    Args:
        spark: on which line.
        broker: which keeps its topics.
        folder: an empty one, whose name no other run has.
        situations: of `SITUATIONS`.
        env: of the driver, beside what all children have.
        warm_up: so many records of each topic come before any figure counts.
    """
    topics = {name: f"{folder.name}-{name}" for name in ("orders", "payments", "refunds")}
    broker.create_topics(folder, dict.fromkeys(topics.values(), "LogAppendTime"))
    submit = [
        "--master", "local[2]", "--jars", ",".join([str(spark.jar), *resolved("connector")]),
        "--driver-memory", "1g", *settings(CONF),
    ]  # fmt: skip
    arguments = [str(folder), broker.address, *topics.values(), ",".join(situations)]
    with spark.start("driver", folder, "spark-submit", *submit, SCRIPT, *arguments, env=env) as driver:
        send(broker, folder, [(topics[name], warm_up, None) for name in SENT])
        driver.until(lambda: "warm" in driver.lines(), "each query has read records", within=120)
        found = Told(time.time_ns() // 1_000_000)
        send(broker, folder, [(topics[name], RATE * s, p) for name, of in SENT.items() for p, s in of])
        (folder / "sent").touch()
        driver.until(lambda: "done" in driver.lines(), "all queries have run", within=240)
        for line in driver.lines():
            if line.startswith("{"):
                found.take(json.loads(line))
    return found
