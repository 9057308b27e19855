"""Drivers of `closing`, the records that they read, and what they leave in their folder."""

import json
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from children import Child
from closing import WINDOW
from cluster import Spark, settings

SCRIPT = Path(__file__).parent / "closing.py"
CONF = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
}
LOG = "out/_spark_metadata"
"""Where the sink says which of its files count."""

Windows = list[tuple[int, int, int]]
"""End, key and records of each."""


@dataclass
class Inbox:
    """Files of records, each of the moment at which it was written."""

    folder: Path
    written: int = 0
    _counts: Counter[tuple[int, int]] = field(default_factory=Counter)

    def add(self, records: int) -> None:
        at = time.time_ns() // 1_000_000
        keys = [number % 3 for number in range(records)]
        new = self.folder / f".{at}"
        new.write_text("".join(f'{{"at": {at}, "key": {key}}}\n' for key in keys))
        new.rename(self.folder / f"{at}.json")
        end = (at // (WINDOW * 1000) + 1) * WINDOW * 1000
        self._counts.update((end, key) for key in keys)
        self.written += records

    def windows(self) -> Windows:
        return sorted((*place, records) for place, records in self._counts.items())


@dataclass(frozen=True)
class Place:
    """Where a query keeps its checkpoint and its results."""

    folder: Path

    def batches(self, log: str) -> set[int]:
        """Those of which one of its logs knows."""
        files = (self.folder / log).glob("[0-9]*")
        return {int(file.name.removesuffix(".compact")) for file in files}

    def has_begun_a_batch(self) -> bool:
        return max(self.batches("checkpoint/offsets")) > max(self.batches("checkpoint/commits"))

    def windows(self) -> Windows:
        """What a reader of the results finds: files that are not in the sink's log do not count."""
        files = set().union(*(_files(log) for log in (self.folder / LOG).glob("[0-9]*")))
        return sorted(row for file in files for row in _rows(file))

    def _logs(self, batch: int) -> list[Path]:
        logs = (self.folder / LOG / name for name in (str(batch), f"{batch}.compact"))
        return [log for log in logs if log.exists()]

    def closed(self) -> dict[int, set[int]]:
        """The ends of the windows that each batch has given out. One log in ten repeats all before it."""
        found, known = {}, set[Path]()
        for batch in sorted(self.batches(LOG)):
            files = set().union(*(_files(log) for log in self._logs(batch)))
            found[batch] = {end for file in files - known for end, *_ in _rows(file)}
            known |= files
        return found


def _files(log: Path) -> set[Path]:
    entries = [json.loads(line) for line in log.read_text().splitlines()[1:]]
    return {Path(entry["path"].removeprefix("file:")) for entry in entries}


def _rows(file: Path) -> Windows:
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    return [(row["end"], row["key"], row["records"]) for row in rows]


def starting(spark: Spark, kind: str, inbox: Inbox, place: Place) -> Child:
    submit = ["--master", "local[1]", "--jars", str(spark.jar), "--driver-memory", "512m", *settings(CONF)]
    return spark.start(
        "driver", place.folder, "spark-submit", *submit, SCRIPT, kind, inbox.folder, place.folder
    )


def has_read(driver: Child, records: int) -> None:
    """Waits until a driver has read so many records, and committed their batches."""
    driver.until(lambda: f"read {records}" in driver.lines(), f"it has read {records} records", within=120)
